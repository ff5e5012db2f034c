// SPDX-License-Identifier: MIT
#include "run_summary.h"

#include "talk.h"

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static uint64_t figure(const json_t *figures, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(figures, name));
}

static void print_size(FILE *out, const char *what, uint64_t bytes)
{
    char text[TALK_SIZE_BYTES];
    (void)fprintf(out, "  %-24s %12s\n", what, talk_size(text, bytes));
}

// The kernel counts what this command held before it became the program, so a smaller program's
// peak isn't known.
static void print_peak(FILE *out, const struct rusage *usage)
{
    struct rusage own;
    char text[TALK_SIZE_BYTES];
    bool is_known = getrusage(RUSAGE_SELF, &own) != 0 || usage->ru_maxrss > own.ru_maxrss;
    (void)talk_size(text, (uint64_t)usage->ru_maxrss * 1024);
    (void)fprintf(out, "  %-24s %12s%s\n", "peak resident", text, is_known ? "" : " or less");
}

static void print_ending(FILE *out, const struct launch_result *result)
{
    if (WIFSIGNALED(result->wait_status)) {
        int signal_number = WTERMSIG(result->wait_status);
        (void)fprintf(out, "ended by signal %d (%s)\n", signal_number, strsignal(signal_number));
    } else {
        (void)fprintf(out, "ended with status %d\n", WEXITSTATUS(result->wait_status));
    }
}

static bool is_class_used(const json_t *row)
{
    return figure(row, "live_blocks") + figure(row, "free_blocks") + figure(row, "slabs") > 0;
}

static void print_classes(FILE *out, const json_t *classes)
{
    size_t index = 0;
    const json_t *row = NULL;
    (void)fprintf(out, "\n  %12s %12s %12s %8s %12s\n", "class bytes", "live blocks", "free blocks",
                  "slabs", "live");
    json_array_foreach(classes, index, row)
    {
        if (is_class_used(row)) {
            char live[TALK_SIZE_BYTES];
            uint64_t class_bytes = figure(row, "class_bytes");
            uint64_t live_blocks = figure(row, "live_blocks");
            (void)fprintf(out, "  %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8" PRIu64 " %12s\n",
                          class_bytes, live_blocks, figure(row, "free_blocks"),
                          figure(row, "slabs"), talk_size(live, class_bytes * live_blocks));
        }
    }
}

static void print_front_row(FILE *out, const char *what, const json_t *front,
                            const char *const members[static 5])
{
    (void)fprintf(out, "  %-10s", what);
    for (size_t i = 0; i < 5; i++) {
        if (members[i] != NULL) {
            (void)fprintf(out, " %12" PRIu64, figure(front, members[i]));
        } else {
            (void)fprintf(out, " %12s", "");
        }
    }
    (void)fputc('\n', out);
}

// Only a program on the gated front has these.
static void print_front(FILE *out, const json_t *front)
{
    static const char *const mallocs[] = {"malloc_legacy", "malloc_ultra", "malloc_v7",
                                          "malloc_mid_v3", "malloc_declined"};
    static const char *const frees[] = {"free_legacy", "free_ultra", "free_v7", "free_mid_v3",
                                        NULL};
    if (front == NULL) {
        return;
    }
    (void)fprintf(out, "\n  %-10s %12s %12s %12s %12s %12s\n", "gated", "legacy", "ultra", "v7",
                  "mid_v3", "declined");
    print_front_row(out, "malloc", front, mallocs);
    print_front_row(out, "free", front, frees);
    (void)fprintf(out, "  %-24s %12" PRIu64 "\n", "policy lookups",
                  figure(front, "policy_lookups"));
    (void)fprintf(out, "  %-24s %12" PRIu64 " by malloc, %" PRIu64 " by free\n", "snapshot reads",
                  figure(front, "malloc_snapshot_reads"), figure(front, "free_snapshot_reads"));
    (void)fprintf(out, "  %-24s %12" PRIu64 " by malloc, %" PRIu64 " by free\n", "static reads",
                  figure(front, "malloc_static_reads"), figure(front, "free_static_reads"));
}

// Only a program with the learner on has these.
static void print_learner(FILE *out, const json_t *learner)
{
    size_t index = 0;
    const json_t *decision = NULL;
    if (learner == NULL) {
        return;
    }
    const json_t *last = json_object_get(learner, "last");
    (void)fprintf(out, "\n  %s\n",
                  json_is_true(json_object_get(learner, "frozen"))
                      ? "learner: frozen by a static route"
                  : json_array_size(last) == 0 ? "learner: nothing was worth a change"
                                               : "learner, its last decisions:");
    json_array_foreach(last, index, decision)
    {
        (void)fprintf(out, "  %4" PRIu64 ". heap %" PRIu64 ": %s\n", figure(decision, "number"),
                      figure(decision, "heap"),
                      json_string_value(json_object_get(decision, "decision")));
    }
}

static void print_figures(FILE *out, const json_t *figures)
{
    char text[TALK_SIZE_BYTES];
    (void)fprintf(out, "  %-24s %12s in %" PRIu64 " blocks\n", "live at exit",
                  talk_size(text, figure(figures, "live_bytes")), figure(figures, "live_blocks"));
    (void)fprintf(out, "  %-24s %12s in %" PRIu64 " blocks\n", "  of it in large blocks",
                  talk_size(text, figure(figures, "large_bytes")), figure(figures, "large_blocks"));
    print_size(out, "free, in threads' bins", figure(figures, "bin_bytes"));
    print_size(out, "free, in transit", figure(figures, "transit_bytes"));
    print_size(out, "free, in slabs", figure(figures, "slab_free_bytes"));
    print_size(out, "dirty pages", figure(figures, "dirty_bytes"));
    print_size(out, "committed", figure(figures, "committed_bytes"));
    print_size(out, "  peak", figure(figures, "peak_committed_bytes"));
    print_size(out, "  of it records", figure(figures, "record_bytes"));
    print_size(out, "given back to the system", figure(figures, "purged_bytes"));
    (void)fprintf(out, "  %-24s %12" PRIu64 "\n", "memory system calls",
                  figure(figures, "os_call_count"));
    print_classes(out, json_object_get(figures, "classes"));
    print_front(out, json_object_get(figures, "gated_front"));
    print_learner(out, json_object_get(figures, "learner"));
}

void run_summary_print(FILE *out, const char *program, const struct launch_result *result,
                       const json_t *figures)
{
    (void)fprintf(out, "hakmem: %s ", program);
    print_ending(out, result);
    (void)fprintf(out, "  %-24s %10.3f s\n", "wall time", result->wall_seconds);
    (void)fprintf(out, "  %-24s %10.3f s\n", "user time", seconds_of(result->usage.ru_utime));
    (void)fprintf(out, "  %-24s %10.3f s\n", "system time", seconds_of(result->usage.ru_stime));
    print_peak(out, &result->usage);
    if (figures != NULL) {
        print_figures(out, figures);
    } else {
        (void)fputs("The program left no figures of its heap: it was killed, left by _exit, or "
                    "does not run on hakmem; `hakmem doctor -- PROGRAM` tells which.\n",
                    out);
    }
}
