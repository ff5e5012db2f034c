// The allocators that are compared, and where each lies.
// Layer: cli.  Needs: experiment_witness, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_COMPARE_ALLOCATORS_H
#define HAK_CLI_COMPARE_ALLOCATORS_H

#include "experiment_witness.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    COMPARE_ALLOCATORS_MOST = 12,
    COMPARE_NAME_BYTES = 32,
};

struct compare_allocator {
    char name[COMPARE_NAME_BYTES];
    char object[PATH_MAX];  // what malloc comes from on its side, symbolic links followed
    bool is_preloaded;      // false: the C library's own
    bool is_hakmem;
};

struct compare_allocators {
    size_t count;
    struct compare_allocator list[COMPARE_ALLOCATORS_MOST];
};

// Reads "system,mimalloc,NAME=FILE.so" and finds each; hakmem, whose library is `hakmem`, comes
// second if it isn't named.  `list` NULL: all that are known, and those that aren't installed are
// left out, having been named.  Returns an exit status, having said what is wrong.
int compare_allocators_find(const char *list, const char *hakmem,
                            const struct experiment_witness *witness,
                            struct compare_allocators *allocators);

#endif
