// The settings that `hakmem tune` tries.
// Layer: cli.  Needs: core/policy.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_TUNE_CANDIDATES_H
#define HAK_CLI_TUNE_CANDIDATES_H

#include "abtest/abtest.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    TUNE_CANDIDATES_MOST = ABTEST_SIDES_MOST - 1,
    TUNE_SETTINGS_MOST = 24,
    TUNE_LABEL_BYTES = 256,
};

struct tune_candidate {
    char label[TUNE_LABEL_BYTES];  // "HAKMEM_PROFILE=lean", or several with " + " between them
    const char *gate;              // the variable that it is about; of several: the first one's
    size_t setting_count;          // a profile is written out, so that what is measured is what
    char *settings[TUNE_SETTINGS_MOST];  // is written: NAME=VALUE, the last one of a name counts
    // What came of it when it was dropped, or at the end.
    size_t round_count;
    struct abtest_interval interval;  // against the defaults; above 1: better
    bool is_shown;                    // with Holm's correction for all candidates
};

struct tune_candidates {
    size_t count;
    struct tune_candidate list[TUNE_CANDIDATES_MOST];
};

// All that this version knows and that differ from the defaults, the most promising first.
void tune_candidates_find(struct tune_candidates *candidates);

// `joined` becomes both together; what a gate says wins over a profile.  False when that is too much.
bool tune_candidates_join(const struct tune_candidate *first, const struct tune_candidate *second,
                          struct tune_candidate *joined);

#endif
