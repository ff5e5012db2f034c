// Makes chosen system calls fail; see seccomp_deny.h.
// SPDX-License-Identifier: MIT
#include "seccomp_deny.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

bool seccomp_deny(const int *calls, size_t count, int error)
{
    struct sock_filter program[SECCOMP_DENY_MOST + 3];
    size_t length = 0;
    if (count > SECCOMP_DENY_MOST) {
        return false;
    }
    program[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        // A hit jumps over the remaining comparisons and the "allow" to the "fail".
        program[length++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], (unsigned char)(count - i), 0);
    }
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[length++] = (struct sock_filter)BPF_STMT(
        BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)error & SECCOMP_RET_DATA));
    struct sock_fprog filter = {.len = (unsigned short)length, .filter = program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
