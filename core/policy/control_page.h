// The page through which `hakmem ctl` sets gates of a running program.
// Layer: policy.  Needs: nothing.
// SPDX-License-Identifier: MIT
//
// A program that is started with HAKMEM_CONTROL=DIRECTORY makes the file DIRECTORY/hakmem.PID, maps it,
// and looks at `request` on slow paths.  The command opens the file, checks that it is its own user's,
// locks it against other commands, writes gate and value, and counts `request` up; the program sets the
// gate, writes `status`, and sets `reply` to the request that it answered.
#ifndef HAK_POLICY_CONTROL_PAGE_H
#define HAK_POLICY_CONTROL_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    CONTROL_GATE_BYTES = 64,
    CONTROL_VALUE_BYTES = 512,
    CONTROL_MAGIC = 0x68616b31,
};

struct control_page {
    uint32_t magic;            // of this layout
    _Atomic uint32_t request;  // release after gate and value; pairs with the program's acquire
    _Atomic uint32_t reply;    // release after status; pairs with the command's acquire
    int32_t status;            // as hak_ctl_set returns: 0 or an errno value
    char gate[CONTROL_GATE_BYTES];
    char value[CONTROL_VALUE_BYTES];
};

#endif
