// expect: abort "hakmem: [a-z]+ of 0x1, which is not a block"
// realloc of a small number taken for a pointer.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void *moved = realloc((void *)hidden(1), hidden(16));
    misuse_flush();
    return moved == NULL;
}
