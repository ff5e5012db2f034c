// Setting a gate while the program runs.
// Layer: thread.  Needs: policy.
// SPDX-License-Identifier: MIT
#ifndef HAK_THREAD_GATE_SET_H
#define HAK_THREAD_GATE_SET_H

// Sets a LIVE gate from its text.  0, ENOENT (no such gate), EPERM (read at start only) or EINVAL (not a
// value of the gate).  Any thread may call that holds no lock.
int gate_set_live(const char *gate, const char *value);

#endif
