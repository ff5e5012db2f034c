// realloc in its forms.
// Layer: front.  Needs: base, route, backend, thread.
// SPDX-License-Identifier: MIT
#ifndef HAK_FRONT_RESIZE_H
#define HAK_FRONT_RESIZE_H

#include <stddef.h>

// As hak_realloc and hak_aligned_realloc (`align_bytes` a power of two; 1 where it doesn't matter).
void *block_resize(void *block, size_t align_bytes, size_t bytes);

#endif
