// expect: signal SEGV
// The program runs what it wrote into a block; 0xc3 is x86's return.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void (*function)(void) = NULL;
    unsigned char *block = misuse_malloc(256);
    misuse_write(block, 0, 256, 0xc3);
    *(void **)&function = hidden_ptr(block);
    function();
    return 0;
}
