// expect: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// A static variable of the program.
// SPDX-License-Identifier: MIT
#include "misuse.h"

static _Alignas(16) unsigned char variable[64];

int main(void)
{
    misuse_free(variable);
    misuse_flush();
    return variable[0];
}
