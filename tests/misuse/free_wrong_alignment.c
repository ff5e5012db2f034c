// hardened: abort "hakmem: free with a wrong alignment of 0x[0-9a-f]+, a 100-byte block"
// No address has the alignment that the free names.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    void (*free_aligned_sized)(void *block, size_t align_bytes, size_t bytes) = NULL;
    *(void **)&free_aligned_sized = misuse_symbol("free_aligned_sized");
    free_aligned_sized(misuse_malloc(100), hidden((size_t)1 << 40), hidden(100));
    return 0;
}
