// Is the process hardened?  HAKMEM_HARDENED, made into data.
// Layer: harden.  Needs: base.
// SPDX-License-Identifier: MIT
//
// Until the gates are read nobody knows.  Blocks that are handed out before then get their trailers in
// any case, and are cleared when they are freed, so that either answer fits them; what is freed before
// then isn't checked.  The mode changes once, so a thread that sees it late errs the same way.
#ifndef HAK_HARDEN_HARDEN_MODE_H
#define HAK_HARDEN_HARDEN_MODE_H

#include "base/compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum harden_mode {
    HARDEN_OFF,
    HARDEN_UNSETTLED,
    HARDEN_ON,
};

// key and pattern are written before the first block, always to the same values.
struct harden {
    _Atomic uint8_t mode;  // enum harden_mode; relaxed, see above
    uint64_t key;          // of the trailers
    uint64_t pattern;      // one byte, eight times, that isn't 0: what slack is filled with
};

extern struct harden harden;

// From 64 random bits.
void harden_init(uint64_t seed);

static inline enum harden_mode harden_mode_now(void)
{
    return (enum harden_mode)atomic_load_explicit(&harden.mode, memory_order_relaxed);
}

// The gates are read.
static inline void harden_settle(bool is_on)
{
    atomic_store_explicit(&harden.mode, is_on ? HARDEN_ON : HARDEN_OFF, memory_order_relaxed);
}

// Do blocks have trailers?
static inline bool harden_pads(void)
{
    return harden_mode_now() != HARDEN_OFF;
}

// Are blocks checked?
static inline bool harden_is_on(void)
{
    return harden_mode_now() == HARDEN_ON;
}

#endif
