// The flags that /proc/self/smaps shows for a mapping.
// SPDX-License-Identifier: MIT
#ifndef TESTS_MAPPING_FLAGS_H
#define TESTS_MAPPING_FLAGS_H

#include "test_check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// `flag`: two letters with a blank before them: " hg" advised for huge pages, " lo" locked.
static inline bool mapping_has_flag(const void *address, const char *flag)
{
    char line[512];
    bool is_inside = false;
    bool is_found = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    REQUIRE(file != NULL);
    while (!is_found && fgets(line, sizeof line, file) != NULL) {
        char *rest = NULL;
        uintptr_t start = strtoul(line, &rest, 16);
        if (*rest == '-') {
            uintptr_t end = strtoul(rest + 1, NULL, 16);
            is_inside = (uintptr_t)address >= start && (uintptr_t)address < end;
        }
        is_found = is_inside && strncmp(line, "VmFlags:", 8) == 0;
    }
    REQUIRE(fclose(file) == 0 && is_found);
    return strstr(line, flag) != NULL;
}

#endif
