// A sandbox that refuses all system calls but a few: those that were used before it started are not
// needed later, and threads allocate as ever.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 3,
    ROUND_COUNT = 20000,
    HELD_COUNT = 200,
    LARGE_BYTES = 3 << 20,
};

// What C programs do with memory and threads.  mremap is not among them.
static const int allowed_calls[] = {
    SYS_read,     SYS_write,        SYS_exit,           SYS_exit_group,      SYS_mmap,  SYS_munmap,
    SYS_mprotect, SYS_brk,          SYS_madvise,        SYS_futex,           SYS_clone, SYS_clone3,
    SYS_rseq,     SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_set_robust_list,
};

enum {
    ALLOWED_COUNT = sizeof(allowed_calls) / sizeof(allowed_calls[0]),
};

static bool refuse_all_others(void)
{
    struct sock_filter program[ALLOWED_COUNT + 3];
    size_t length = 0;
    program[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ALLOWED_COUNT; i++) {
        // A hit jumps over the remaining comparisons and the "fail" to the "allow".
        program[length++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed_calls[i],
                                         (unsigned char)(ALLOWED_COUNT - i), 0);
    }
    program[length++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)EPERM);
    program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = (unsigned short)length, .filter = program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static size_t draw_size(struct random_stream *random)
{
    size_t draw = random_below(random, 1000);
    if (draw == 0) {
        return random_below(random, LARGE_BYTES) + 1;
    }
    return random_below(random, draw < 50 ? 100000 : 1000) + 1;
}

static void *allocate_mixed(void *argument)
{
    struct random_stream random = {.state = (uintptr_t)argument};
    unsigned char *held[HELD_COUNT] = {NULL};
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        size_t slot = random_below(&random, HELD_COUNT);
        size_t bytes = draw_size(&random);
        if (random_below(&random, 3) == 0) {
            free(held[slot]);
            held[slot] = NULL;
        }
        errno = 0;
        unsigned char *block = realloc(held[slot], bytes);
        REQUIRE(block != NULL);
        EXPECT(errno == 0 || !check_has_hakmem());
        REQUIRE(held[slot] == NULL || block[0] == (unsigned char)slot);
        block[0] = (unsigned char)slot;
        block[bytes - 1] = (unsigned char)slot;
        held[slot] = block;
    }
    for (size_t i = 0; i < HELD_COUNT; i++) {
        free(held[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREAD_COUNT];
    (void)alarm(40);
    free(hidden_ptr(malloc(hidden(100))));
    if (!refuse_all_others()) {
        check_skip("this kernel has no seccomp filters");
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, allocate_mixed, (void *)(i + 1)) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)allocate_mixed((void *)THREAD_COUNT);
    return check_result();
}
