// Writing a GO into a preset of the source tree.
// Layer: cli.  Needs: ab_output, ab_report.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_PROMOTE_H
#define HAK_CLI_AB_PROMOTE_H

#include "ab_report.h"

// Looks, before any run, whether it could be done: the source tree has the preset, and the record lies
// in the tree.  Returns false, having said what is wrong.
bool ab_promote_is_possible(const struct ab_options *options);

// After a GO whose record is written: puts what B sets and A doesn't into the preset's row of
// core/policy/profiles.def, with a line above that names the record.  Returns false, having said why
// nothing was changed.
bool ab_promote_write(const struct ab_report *report);

#endif
