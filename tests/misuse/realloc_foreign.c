// expect: abort "hakmem: [a-z]+ of 0x[0-9a-f]+, which is not a block"
// realloc of a variable on the stack.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    _Alignas(16) unsigned char variable[64] = {0};
    void *moved = realloc(hidden_ptr(variable), hidden(100));
    misuse_flush();
    return moved == NULL;
}
