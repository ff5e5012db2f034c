// SPDX-License-Identifier: MIT
#include "trace_order.h"

#include <stdlib.h>
#include <string.h>

static const char out_of_memory[] = "memory is out";

// Which event bore the block that lives under a number: open addressing, never more than half full.
// A number that has died keeps its slot, as it will mostly be born again.
struct living {
    uint64_t *blocks;
    int32_t *events;
    size_t slot_count;  // a power of two
    size_t used_count;
};

static bool living_make(struct living *living, size_t slot_count)
{
    living->blocks = calloc(slot_count, sizeof living->blocks[0]);
    living->events = calloc(slot_count, sizeof living->events[0]);
    living->slot_count = slot_count;
    living->used_count = 0;
    return living->blocks != NULL && living->events != NULL;
}

static void living_drop(struct living *living)
{
    free(living->blocks);
    free(living->events);
}

static size_t living_find(const struct living *living, uint64_t block)
{
    uint64_t hash = block * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t)(hash >> 32) & (living->slot_count - 1);
    while (living->blocks[slot] != 0 && living->blocks[slot] != block) {
        slot = (slot + 1) & (living->slot_count - 1);
    }
    return slot;
}

static bool living_grow(struct living *living)
{
    struct living larger;
    bool is_made = living_make(&larger, 2 * living->slot_count);
    for (size_t i = 0; is_made && i < living->slot_count; i++) {
        if (living->blocks[i] != 0 && living->events[i] != TRACE_NO_EVENT) {
            size_t slot = living_find(&larger, living->blocks[i]);
            larger.blocks[slot] = living->blocks[i];
            larger.events[slot] = living->events[i];
            larger.used_count++;
        }
    }
    if (!is_made) {
        living_drop(&larger);
        return false;
    }
    living_drop(living);
    *living = larger;
    return true;
}

static int32_t *living_of(struct living *living, uint64_t block)
{
    size_t slot = living_find(living, block);
    if (living->blocks[slot] == 0) {
        if (living->used_count * 2 >= living->slot_count) {
            if (!living_grow(living)) {
                return NULL;
            }
            slot = living_find(living, block);
        }
        living->blocks[slot] = block;
        living->events[slot] = TRACE_NO_EVENT;
        living->used_count++;
    }
    return &living->events[slot];
}

// A table by moment, since moments are numbers without large gaps.
static const char *place_turns(const struct trace *trace, struct trace_turn *by_moment,
                               bool *is_taken)
{
    for (size_t i = 0; i < trace->event_count; i++) {
        const struct trace_event *event = &trace->events[i];
        bool is_realloc = event->entry == TRACE_REALLOC;
        if (is_taken[event->moment] || (is_realloc && is_taken[event->given_up])) {
            return "two of its events have the same moment";
        }
        is_taken[event->moment] = true;
        by_moment[event->moment] =
            (struct trace_turn){.event = (uint32_t)i, .is_birth = event->entry != TRACE_FREE};
        if (is_realloc) {
            is_taken[event->given_up] = true;
            by_moment[event->given_up] = (struct trace_turn){.event = (uint32_t)i};
        }
    }
    return NULL;
}

static const char *make_turns(struct trace *trace)
{
    const char *fault = NULL;
    uint64_t last = 0;
    for (size_t i = 0; i < trace->event_count; i++) {
        last = trace->events[i].moment > last ? trace->events[i].moment : last;
    }
    trace->turns = malloc((last + 1) * sizeof trace->turns[0]);
    bool *is_taken = calloc(last + 1, sizeof is_taken[0]);
    if (trace->turns == NULL || is_taken == NULL) {
        fault = out_of_memory;
    } else {
        fault = place_turns(trace, trace->turns, is_taken);
    }
    for (uint64_t moment = 0; fault == NULL && moment <= last; moment++) {
        if (is_taken[moment]) {
            trace->turns[trace->turn_count++] = trace->turns[moment];
        }
    }
    free(is_taken);
    return fault;
}

static void count_death(struct trace *trace, const struct trace_event *event, int32_t parent)
{
    trace->free_count += event->entry == TRACE_FREE;
    if (parent == TRACE_NO_EVENT) {
        trace->unknown_count++;
    } else {
        trace->handover_count += trace->events[parent].thread != event->thread;
    }
}

static bool take_turn(struct trace *trace, struct trace_turn turn, struct living *living)
{
    const struct trace_event *event = &trace->events[turn.event];
    bool is_first_half = event->entry == TRACE_REALLOC && !turn.is_birth;
    uint64_t block = is_first_half ? event->old_block : event->block;
    if (block == 0) {
        return true;
    }
    int32_t *bearer = living_of(living, block);
    if (bearer == NULL) {
        return false;
    }
    if (turn.is_birth) {
        *bearer = (int32_t)turn.event;
        trace->birth_count++;
        return true;
    }
    trace->parents[turn.event] = *bearer;
    count_death(trace, event, *bearer);
    if (*bearer != TRACE_NO_EVENT) {
        trace->children[*bearer] = (int32_t)turn.event;
        *bearer = TRACE_NO_EVENT;
    }
    return true;
}

static const char *find_parents(struct trace *trace)
{
    struct living living;
    size_t table_bytes = trace->event_count * sizeof trace->parents[0];
    trace->parents = malloc(table_bytes);
    trace->children = malloc(table_bytes);
    bool is_good = living_make(&living, 1024) && trace->parents != NULL && trace->children != NULL;
    if (is_good) {
        memset(trace->parents, 0xFF, table_bytes);  // TRACE_NO_EVENT
        memset(trace->children, 0xFF, table_bytes);
    }
    for (size_t i = 0; is_good && i < trace->turn_count; i++) {
        is_good = take_turn(trace, trace->turns[i], &living);
    }
    living_drop(&living);
    return is_good ? NULL : out_of_memory;
}

const char *trace_order_make(struct trace *trace)
{
    const char *fault = make_turns(trace);
    return fault == NULL ? find_parents(trace) : fault;
}
