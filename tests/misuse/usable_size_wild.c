// expect: abort "hakmem: use of 0x1, which is not a block"
// The size of a small number taken for a pointer.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    (void)malloc_usable_size((void *)hidden(1));
    return 0;
}
