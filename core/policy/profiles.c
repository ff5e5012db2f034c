// SPDX-License-Identifier: MIT
#include "policy/gate_text.h"
#include "policy/gates.h"

#include <string.h>

#define PROFILE(profile_name, profile_settings, profile_help)                                      \
    {.name = (profile_name), .settings = (profile_settings), .help = (profile_help)},
const struct profile profile_table[] = {
#include "policy/profiles.def"
};
#undef PROFILE

const size_t profile_count = sizeof profile_table / sizeof profile_table[0];

const struct profile *profile_find(const char *name)
{
    for (size_t i = 0; i < profile_count; i++) {
        if (strcmp(profile_table[i].name, name) == 0) {
            return &profile_table[i];
        }
    }
    return NULL;
}

const struct profile *profile_nearest(const char *name)
{
    const struct profile *nearest = NULL;
    unsigned least_distance = SLICE_FAR;
    for (size_t i = 0; i < profile_count; i++) {
        unsigned distance = slice_distance(slice_of(name), profile_table[i].name);
        if (distance < least_distance) {
            least_distance = distance;
            nearest = &profile_table[i];
        }
    }
    return nearest;
}
