// The fault sweep: in a program that uses everything, the Nth call of core/os that asks the system for
// memory, or gives some back, fails.  The program sees NULL with ENOMEM at most, then does all of it
// again without a refusal, and at the end holds no more than one that was refused nothing.
// SPDX-License-Identifier: MIT
//
// Arguments: TRIES [PLAN]: for each plan, or for the one of that name, so many numbers N, spread over all the
// calls that there are, up to 2000; each in a process of its own.
#include "os_refusal.h"
#include "piece_lot.h"
#include "policy/gates.h"
#include "test_check.h"
#include "use_everything.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUNDS = 3,
    NUMBER_MOST = 2000,
    SECONDS_MOST = 60,  // for one process
    ROW_COUNT = 25,
    RSS_SLACK_BYTES = 2 << 20,
    SPACE_SLACK_BYTES = 16 << 20,
    SHUT_BYTES = 64 << 20,  // guards and freed blocks that stay shut, in a hardened process
};

// What fails: `refused_most` calls of the kinds, from the Nth on.
struct plan {
    const char *name;
    unsigned calls;
    size_t refused_most;
};

static const struct plan plans[] = {
    {"map", OS_CALL_MAP, 1},
    {"unmap", OS_CALL_UNMAP, 1},
    {"purge", OS_CALL_PURGE, 1},
    {"resize", OS_CALL_RESIZE, 1},
    {"detach", OS_CALL_DETACH, 1},
    {"guard", OS_CALL_GUARD, 1},
    {"maps in a row", OS_CALL_MAP, ROW_COUNT},
    {"all in a row", OS_CALL_ALL, ROW_COUNT},
    {"all from there on", OS_CALL_ALL, SIZE_MAX},
};

enum {
    PLAN_COUNT = sizeof plans / sizeof plans[0]
};

// Written by the child, read by the parent.
struct outcome {
    struct end_figures start;
    struct end_figures end;
    size_t refusal_count;
    size_t call_count;
};

static struct {
    struct outcome *outcome;
    struct plan plan;
    size_t number;  // 0: nothing is refused
} sweep;

static void use_and_recover(void)
{
    sweep.outcome->start = use_everything_read_end();
    os_refusal.counted_calls = sweep.plan.calls;
    os_refusal.first_refused = sweep.number;
    os_refusal.refused_most = sweep.plan.refused_most;
    lot_may_fail(sweep.number != 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        use_everything(round);
    }
    sweep.outcome->call_count = atomic_load_explicit(&os_refusal.call_count, memory_order_relaxed);
    sweep.outcome->refusal_count = lot_refusal_count();
    os_refusal_end();
    lot_may_fail(false);
    use_everything(ROUNDS);
    sweep.outcome->end = use_everything_read_end();
}

// Runs one process; what it says on standard error is a failure.
static void run(const struct plan *plan, size_t number)
{
    char name[100];
    int file = memfd_create("standard error", MFD_CLOEXEC);
    int saved_fd = dup(STDERR_FILENO);
    REQUIRE(file >= 0 && saved_fd >= 0);
    (void)snprintf(name, sizeof name, "%s, call %zu", plan->name, number);
    sweep.plan = *plan;
    sweep.number = number;
    memset(sweep.outcome, 0, sizeof *sweep.outcome);
    (void)dup2(file, STDERR_FILENO);
    check_in_child(name, use_and_recover, SECONDS_MOST);
    (void)dup2(saved_fd, STDERR_FILENO);
    char text[4000];
    ssize_t length = pread(file, text, sizeof text, 0);
    if (!check_that(length == 0, name, 0, "nothing on standard error")) {
        ssize_t written = write(STDERR_FILENO, text, (size_t)length);
        (void)written;
    }
    (void)close(file);
    (void)close(saved_fd);
}

// A race detector and its like keep memory of their own.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const bool is_shadowed = true;
#else
static const bool is_shadowed = false;
#endif

// `calm`: the end of a process that was refused nothing.
static void compare(const struct end_figures *calm)
{
    const struct outcome *outcome = sweep.outcome;
    EXPECT(outcome->end.live_blocks == 0 && outcome->end.dirty_bytes == 0);
    EXPECT_AT_MOST(outcome->end.committed_bytes, calm->committed_bytes + RSS_SLACK_BYTES);
    EXPECT_AT_MOST(outcome->end.mapped_bytes, calm->mapped_bytes + SPACE_SLACK_BYTES);
    if (!is_shadowed) {
        EXPECT_AT_MOST(outcome->end.rss_bytes, calm->rss_bytes + RSS_SLACK_BYTES);
        size_t mapped_bytes = outcome->end.mapped_bytes - outcome->start.mapped_bytes;
        size_t grown_bytes = outcome->end.vsz_bytes - outcome->start.vsz_bytes;
        EXPECT_AT_MOST(grown_bytes, mapped_bytes + (gates.hardened ? SHUT_BYTES : 0));
        EXPECT_AT_MOST(mapped_bytes, grown_bytes);
    }
}

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

static void try_numbers(const struct plan *plan, size_t most_tries)
{
    size_t refusal_count = 0;
    run(plan, 0);
    struct end_figures calm = sweep.outcome->end;
    size_t call_count = sweep.outcome->call_count;
    size_t number_count = least(call_count, NUMBER_MOST);
    size_t try_count = least(number_count, most_tries);
    compare(&calm);
    for (size_t i = 0; i < try_count; i++) {
        run(plan, 1 + i * number_count / try_count);
        compare(&calm);
        refusal_count += sweep.outcome->refusal_count;
    }
    (void)printf("%s: %zu calls, %zu of them refused in turn, %zu refusals seen\n", plan->name,
                 call_count, try_count, refusal_count);
    (void)fflush(stdout);
    // A hardened process copies where others let the system move pages.
    EXPECT(call_count > 0 ||
           (gates.hardened && (plan->calls & ~(unsigned)(OS_CALL_RESIZE | OS_CALL_DETACH)) == 0));
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2 || argc == 3);
    size_t try_count = strtoull(argv[1], NULL, 10);
    free(hidden_ptr(malloc(hidden(1))));  // what libc takes for its heap is not counted
    sweep.outcome = mmap(NULL, sizeof *sweep.outcome, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(sweep.outcome != MAP_FAILED);
    for (size_t i = 0; i < PLAN_COUNT; i++) {
        if (argc == 2 || strcmp(argv[2], plans[i].name) == 0) {
            try_numbers(&plans[i], try_count);
        }
    }
    return check_result();
}
