// Figures of all heaps together.
// Layer: thread.  Needs: base, os, stats, region, backend.
// SPDX-License-Identifier: MIT
#ifndef HAK_THREAD_HEAP_STATS_H
#define HAK_THREAD_HEAP_STATS_H

#include "hakmem.h"
#include "route/size_class.h"

struct class_figures {
    size_t slab_count;
    size_t live_count;     // blocks that the program holds
    size_t free_count;     // blocks in slabs
    size_t bin_count;      // blocks in bins
    size_t transit_count;  // blocks between threads
    size_t stock_count;    // blocks of lanes that threads have at hand; among those in bins
};

// Takes each heap's lock in turn.
void heap_stats_read(struct hak_stats *stats, struct class_figures classes[CLASS_COUNT]);

// The figures and the table by class, in the gated front with its counters, as one JSON object; as
// snprintf.
size_t heap_stats_json(char *text, size_t bytes);

#endif
