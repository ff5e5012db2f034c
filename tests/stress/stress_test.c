// Random work on the heap from many threads, checked against the shadow model.
// SPDX-License-Identifier: MIT
//
// Options:
//   --threads LIST   thread counts, each run in turn (default 1,2,4,8,16)
//   --seconds N      the time for all of them together (default 10)
//   --ops N          instead: that many operations a thread
//   --change-routes  the backends of the bands change all the time meanwhile
//   --seed N         replay a run (default: from the clock); the seed is printed first
#include "process_memory.h"
#include "shadow_model.h"
#include "stress_allocator.h"
#include "stress_lane.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    USAGE_STATUS = 2,
    RUN_MOST = 16,
    POLL_MS = 10,
};

struct options {
    uint64_t seed;
    uint64_t op_limit;
    size_t seconds;
    size_t thread_counts[RUN_MOST];
    size_t run_count;
    bool changes_routes;
};

_Noreturn static void complain(const char *option, const char *value)
{
    (void)fprintf(stderr, "stress: --%s cannot be \"%s\"\n", option, value);
    exit(USAGE_STATUS);
}

static uint64_t parse_number(const char *option, const char *text)
{
    char *end = NULL;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0') {
        complain(option, text);
    }
    return value;
}

static void parse_thread_counts(struct options *options, const char *text)
{
    char *end = NULL;
    options->run_count = 0;
    for (const char *cursor = text; *cursor != '\0'; cursor = end + (*end == ',')) {
        size_t count = strtoull(cursor, &end, 10);
        bool is_end = *end == '\0' || *end == ',';
        if (end == cursor || !is_end || count < 1 || count > LANE_MOST ||
            options->run_count == RUN_MOST) {
            complain("threads", text);
        }
        options->thread_counts[options->run_count++] = count;
    }
}

static struct options parse_options(int argc, char **argv)
{
    static const struct option known[] = {
        {"threads", required_argument, NULL, 't'}, {"seconds", required_argument, NULL, 's'},
        {"ops", required_argument, NULL, 'o'},     {"change-routes", no_argument, NULL, 'c'},
        {"seed", required_argument, NULL, 'r'},    {NULL, 0, NULL, 0},
    };
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    struct options options = {.op_limit = UINT64_MAX, .seconds = 10};
    options.seed = ((uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec) % 1000000007;
    parse_thread_counts(&options, "1,2,4,8,16");
    int letter;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (letter) {
        case 't':
            parse_thread_counts(&options, optarg);
            break;
        case 's':
            options.seconds = parse_number("seconds", optarg);
            break;
        case 'o':
            options.op_limit = parse_number("ops", optarg);
            break;
        case 'c':
            options.changes_routes = true;
            break;
        case 'r':
            options.seed = parse_number("seed", optarg);
            break;
        default:
            exit(USAGE_STATUS);
        }
    }
    return options;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void await_lanes(struct stress_run *run, uint64_t run_ms, bool changes_routes)
{
    struct random_stream random = {.state = run->seed};
    uint64_t end_ms = now_ms() + run_ms;
    // Pairs with the release in run_generation.
    while (atomic_load_explicit(&run->ended_count, memory_order_acquire) < run->lane_count) {
        if (run->op_limit == UINT64_MAX && now_ms() >= end_ms) {
            atomic_store_explicit(&run->stop, true, memory_order_relaxed);
        }
        if (changes_routes && !stress_change_route(random_next(&random))) {
            complain("change-routes", stress_allocator_name);
        }
        sleep_ms(changes_routes ? 1 : POLL_MS);
    }
}

// Between the end of the lanes and the freeing of what they left, the allocator's own count of live
// blocks is exact and must be the model's.
static bool compare_live_blocks(const struct stress_run *run, size_t count_before)
{
    size_t count = 0;
    size_t expected = count_before + shadow_live_count(run->model);
    if (!stress_live_blocks(&count) || count == expected) {
        return true;
    }
    (void)fprintf(stderr,
                  "stress: FAULT seed %llu, threads %zu: %zu live blocks by the allocator's "
                  "count, %zu by the model's\n",
                  (unsigned long long)run->seed, run->lane_count, count, expected);
    return false;
}

static uint64_t count_ops(const struct stress_run *run)
{
    uint64_t op_count = 0;
    for (size_t i = 0; i < run->lane_count; i++) {
        op_count += run->lanes[i].op_number;
    }
    return op_count;
}

// Equal for two runs exactly when every lane drew the same numbers in both.
static uint64_t digest_of(const struct stress_run *run)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < run->lane_count; i++) {
        digest = digest * 31 + run->lanes[i].random.state;
    }
    return digest;
}

static void drain_lanes(struct stress_run *run)
{
    for (size_t i = 0; i < run->lane_count; i++) {
        lane_drain(&run->lanes[i]);
    }
}

static bool run_once(const struct options *options, size_t lane_count)
{
    size_t count_before = 0;
    struct stress_run *run = shadow_map(sizeof(*run));
    run->seed = options->seed;
    run->lane_count = lane_count;
    run->op_limit = options->op_limit;
    run->model = shadow_model_create();
    (void)stress_live_blocks(&count_before);
    for (size_t i = 0; i < lane_count; i++) {
        run->lanes[i].run = run;
        run->lanes[i].index = i;
        lane_start(&run->lanes[i]);
    }
    await_lanes(run, options->seconds * 1000 / options->run_count, options->changes_routes);
    for (size_t i = 0; i < lane_count; i++) {
        lane_join(&run->lanes[i]);
    }
    bool is_right = compare_live_blocks(run, count_before);
    uint64_t digest = digest_of(run);
    drain_lanes(run);
    is_right = compare_live_blocks(run, count_before) && is_right;
    if (shadow_live_count(run->model) != 0) {
        (void)fprintf(stderr, "stress: FAULT the model is left with blocks\n");
        is_right = false;
    }
    (void)printf("stress: %2zu threads, %llu operations, digest %016llx, %s\n", lane_count,
                 (unsigned long long)count_ops(run), (unsigned long long)digest,
                 is_right ? "no fault" : "FAULT");
    (void)fflush(stdout);
    shadow_model_destroy(run->model);
    shadow_unmap(run, sizeof(*run));
    return is_right;
}

int main(int argc, char **argv)
{
    struct options options = parse_options(argc, argv);
    bool is_right = true;
    (void)printf("stress: %s, seed %llu\n", stress_allocator_name,
                 (unsigned long long)options.seed);
    (void)fflush(stdout);
    for (size_t i = 0; i < options.run_count; i++) {
        is_right = run_once(&options, options.thread_counts[i]) && is_right;
    }
    return is_right ? 0 : 1;
}
