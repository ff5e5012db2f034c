// Checks for tests that are one program each: a failed one says where and what, and is counted.
// SPDX-License-Identifier: MIT
//
// Nothing here allocates: the heap under test may be damaged when a check speaks.  Any thread may
// call it.  A program ends with `return check_result();`, a child with `_exit(check_result());`.
#ifndef TESTS_TEST_CHECK_H
#define TESTS_TEST_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CHECK_SKIPPED = 77,  // the exit status of a test that this machine cannot run
};

// Goes on after a failure.
#define EXPECT(condition) check_that((condition), __FILE__, __LINE__, #condition)

// Goes on after a failure, and says both values.
#define EXPECT_AT_MOST(value, limit)                                                               \
    check_at_most((size_t)(value), (size_t)(limit), __FILE__, __LINE__, #value " <= " #limit)

// Ends the process after a failure: what follows would make no sense.
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!check_that((condition), __FILE__, __LINE__, #condition)) {                            \
            check_give_up();                                                                       \
        }                                                                                          \
    } while (0)

bool check_that(bool is_true, const char *file, int line, const char *text);
bool check_at_most(size_t value, size_t limit, const char *file, int line, const char *text);
__attribute__((noreturn)) void check_give_up(void);

// Ends the process with CHECK_SKIPPED after saying why.
__attribute__((noreturn)) void check_skip(const char *reason);

// 0 when every check so far held, else 1.
int check_result(void);

// Runs `body` in a forked child that SIGALRM ends after `seconds`.  A child that dies of a signal or
// exits with anything but 0 is a failed check of the parent.
void check_in_child(const char *name, void (*body)(void), unsigned seconds);

// True when the allocator under test is hakmem: for what only hakmem promises.
bool check_has_hakmem(void);

// True when it is, and that is the gate's value.
bool check_gate_is(const char *gate, const char *value);

// The address of a function that may not exist in this process, or NULL.
void *check_symbol(const char *name);

#ifdef __cplusplus
}
#endif

// Keep the compiler from knowing a size or a pointer, so that no allocation is folded away.
static inline size_t hidden(size_t bytes)
{
    volatile size_t copy = bytes;
    return copy;
}

static inline void *hidden_ptr(void *ptr)
{
    void *volatile copy = ptr;
    return copy;
}

static inline bool is_aligned(const void *ptr, size_t align_bytes)
{
    return ((uintptr_t)ptr & (align_bytes - 1)) == 0;
}

#endif
