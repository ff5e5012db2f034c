// Clears the memory that a slab is made of, in a hardened process: its blocks must hold zeros.
// Layer: backend.  Needs: region, harden.
// SPDX-License-Identifier: MIT
#ifndef HAK_BACKEND_WIPE_SPAN_H
#define HAK_BACKEND_WIPE_SPAN_H

#include "harden/harden_mode.h"
#include "region/span.h"

#include <string.h>

static inline void wipe_span(const struct span *span)
{
    if (unlikely(harden_pads()) && span->is_dirty) {
        memset((void *)span->base, 0, (size_t)span->unit_count * UNIT_BYTES);
    }
}

#endif
