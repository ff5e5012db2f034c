// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// A variable on the stack.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    _Alignas(16) unsigned char variable[64] = {0};
    misuse_free(variable);
    misuse_flush();
    return variable[0];
}
