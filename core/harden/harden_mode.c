// SPDX-License-Identifier: MIT
#include "harden/harden_mode.h"

struct harden harden = {.mode = HARDEN_UNSETTLED};

void harden_init(uint64_t seed)
{
    enum {
        BYTE_MOST = 255
    };
    const uint64_t every_byte = 0x0101010101010101u;
    uint64_t key = (seed ^ 0x5851f42d4c957f2du) * 0xd6e8feb86659fd93u;
    key ^= key >> 32;
    harden.key = key * 0xd6e8feb86659fd93u;
    harden.pattern = every_byte * ((key >> 8) % BYTE_MOST + 1);
}
