// A lane of the stress test: a random sequence of heap operations, run by one thread after another.
// SPDX-License-Identifier: MIT
//
// What a lane does depends on its seed and on nothing else: not on time, not on what the other lanes
// do, not on addresses.  Blocks that come from other lanes never enter its slots; they are checked,
// perhaps reallocated, and freed.  So the same seed replays the same operations; only how the lanes
// interleave differs.
//
// A lane's thread ends after some hundreds to thousands of operations, with the lane's blocks still
// live, and starts its successor, which goes on where it stopped.
#ifndef TESTS_STRESS_LANE_H
#define TESTS_STRESS_LANE_H

#include "random_stream.h"
#include "shadow_model.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LANE_MOST = 16,
    LANE_SLOT_COUNT = 600,
    RING_SLOT_COUNT = 64,
};

// Blocks on the way from one lane to another: one writer, one reader.
// sent_count is written by the sender (release) and read by the receiver (acquire);
// received_count the other way round.
struct lane_ring {
    _Atomic size_t sent_count;
    _Atomic size_t received_count;
    struct shadow_block blocks[RING_SLOT_COUNT];
};

// Touched by the lane's present thread alone; a successor is ordered after it by pthread_create.
struct lane {
    struct stress_run *run;
    size_t index;
    struct random_stream random;
    uint64_t op_number;
    const char *op_name;  // for the report of a fault
    size_t op_bytes;
    pthread_t thread;  // the present thread, for its successor to join
    bool has_predecessor;
    struct shadow_block slots[LANE_SLOT_COUNT];
};

// One run with a fixed number of lanes.  stop and the end count are set and read across threads.
struct stress_run {
    uint64_t seed;
    size_t lane_count;
    uint64_t op_limit;  // per lane; UINT64_MAX: until stop
    struct shadow_model *model;
    _Atomic bool stop;
    _Atomic size_t ended_count;
    struct lane lanes[LANE_MOST];
    struct lane_ring rings[LANE_MOST][LANE_MOST];  // [from][to]
};

// Starts the lane's first thread.
void lane_start(struct lane *lane);

// After run->ended_count lanes have ended: joins the last thread.
void lane_join(struct lane *lane);

// From the main thread, when all lanes are joined: checks and frees what is left.
void lane_drain(struct lane *lane);

#endif
