// SPDX-License-Identifier: MIT
#include "trace_plan.h"

#include "replay_plan.h"
#include "talk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What one thread does, while it is put together.
struct thread_plan {
    bool is_started;
    uint32_t number;  // in the plan, in the order of the first steps
    uint32_t stretch;
    uint32_t first_stretch;
    struct plan_step *steps;
    size_t step_count;
    size_t step_room;
    uint32_t *free_places;  // of its own, the last one freed first
    size_t free_count;
    size_t free_room;
    uint32_t place_count;
};

struct plan {
    const struct trace *trace;
    struct thread_plan *threads;  // by number in the trace
    uint32_t thread_count;
    uint32_t *order;   // of threads, by number in the plan
    uint32_t *places;  // by event: of what it bore
    uint32_t shared_count;
    uint64_t operation_count;
    bool is_out_of_memory;
};

// Doubles a table that is full.
static void *grow(struct plan *plan, void *table, size_t *room_count, size_t item_bytes)
{
    size_t wanted = *room_count > 0 ? 2 * *room_count : 256;
    void *grown = realloc(table, wanted * item_bytes);
    if (grown == NULL) {
        plan->is_out_of_memory = true;
        return table;
    }
    *room_count = wanted;
    return grown;
}

static void add_step(struct plan *plan, struct thread_plan *thread, struct plan_step step)
{
    if (thread->step_count == thread->step_room) {
        thread->steps = grow(plan, thread->steps, &thread->step_room, sizeof thread->steps[0]);
    }
    if (thread->step_count < thread->step_room) {
        thread->steps[thread->step_count++] = step;
    }
}

static void add_deed(struct plan *plan, struct thread_plan *thread, unsigned deed, uint32_t place)
{
    add_step(plan, thread,
             (struct plan_step){
                 .place = place, .old_place = PLAN_NO_PLACE, .code = plan_code(deed, 0, 0)});
}

// The first thread starts the others, as late as it can: its next step comes after.
static void start_thread(struct plan *plan, uint32_t number, uint32_t stretch)
{
    struct thread_plan *thread = &plan->threads[number];
    thread->is_started = true;
    thread->number = plan->thread_count;
    thread->first_stretch = stretch;
    plan->order[plan->thread_count++] = number;
    if (thread->number > 0) {
        add_deed(plan, &plan->threads[plan->order[0]], PLAN_START, thread->number);
    }
}

static void enter(struct plan *plan, uint32_t number, uint32_t stretch)
{
    struct thread_plan *thread = &plan->threads[number];
    bool is_first = !thread->is_started;
    if (is_first) {
        start_thread(plan, number, stretch);
    }
    if (is_first || thread->stretch != stretch) {
        add_deed(plan, thread, PLAN_ENTER, stretch);
        thread->stretch = stretch;
    }
}

static uint32_t take_own_place(struct thread_plan *thread)
{
    return thread->free_count > 0 ? thread->free_places[--thread->free_count]
                                  : thread->place_count++;
}

static void give_own_place(struct plan *plan, struct thread_plan *thread, uint32_t place)
{
    if (thread->free_count == thread->free_room) {
        thread->free_places =
            grow(plan, thread->free_places, &thread->free_room, sizeof thread->free_places[0]);
    }
    if (thread->free_count < thread->free_room) {
        thread->free_places[thread->free_count++] = place;
    }
}

// Where the block lies that this event ends.
static uint32_t end_block(struct plan *plan, struct thread_plan *thread, uint32_t event)
{
    int32_t parent = plan->trace->parents[event];
    if (parent == TRACE_NO_EVENT) {
        return PLAN_NO_PLACE;
    }
    uint32_t place = plan->places[parent];
    if ((place & PLAN_SHARED) == 0) {
        give_own_place(plan, thread, place);
    }
    return place;
}

static uint32_t bear_block(struct plan *plan, struct thread_plan *thread, uint32_t event)
{
    const struct trace *trace = plan->trace;
    int32_t child = trace->children[event];
    bool is_shared =
        child != TRACE_NO_EVENT && trace->events[child].thread != trace->events[event].thread;
    plan->places[event] = is_shared ? PLAN_SHARED | plan->shared_count++ : take_own_place(thread);
    return plan->places[event];
}

// A realloc is one step, at its second turn: between the two its thread does nothing else.
static void add_turn(struct plan *plan, struct trace_turn turn, uint32_t stretch)
{
    const struct trace_event *event = &plan->trace->events[turn.event];
    bool is_free = event->entry == TRACE_FREE;
    bool is_unknown = is_free && plan->trace->parents[turn.event] == TRACE_NO_EVENT;
    if (is_unknown || (!is_free && !turn.is_birth)) {
        return;
    }
    enter(plan, event->thread, stretch);
    struct thread_plan *thread = &plan->threads[event->thread];
    struct plan_step step = {
        .code = plan_code(event->entry, event->align_shift, event->bytes),
        .old_place = PLAN_NO_PLACE,
    };
    uint32_t ended = end_block(plan, thread, turn.event);
    if (is_free) {
        step.place = ended;
    } else {
        step.old_place = ended;
        step.place = bear_block(plan, thread, turn.event);
    }
    add_step(plan, thread, step);
    plan->operation_count++;
}

static bool write_all(FILE *out, const void *bytes, size_t byte_count)
{
    return byte_count == 0 || fwrite(bytes, 1, byte_count, out) == byte_count;
}

static bool write_plan(const struct plan *plan, FILE *out)
{
    const struct plan_head head = {.magic = PLAN_MAGIC,
                                   .thread_count = plan->thread_count,
                                   .shared_count = plan->shared_count,
                                   .operation_count = plan->operation_count};
    bool is_good = write_all(out, &head, sizeof head);
    uint64_t first_step = 0;
    for (uint32_t i = 0; is_good && i < plan->thread_count; i++) {
        const struct thread_plan *thread = &plan->threads[plan->order[i]];
        const struct plan_thread row = {.first_step = first_step,
                                        .step_count = thread->step_count,
                                        .place_count = thread->place_count,
                                        .first_stretch = thread->first_stretch};
        is_good = write_all(out, &row, sizeof row);
        first_step += thread->step_count;
    }
    for (uint32_t i = 0; is_good && i < plan->thread_count; i++) {
        const struct thread_plan *thread = &plan->threads[plan->order[i]];
        is_good = write_all(out, thread->steps, thread->step_count * sizeof thread->steps[0]);
    }
    return is_good && fflush(out) == 0;
}

static bool write_to(const struct plan *plan, int file)
{
    int copy = dup(file);
    FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;
    bool is_written = out != NULL && write_plan(plan, out);
    if (!is_written) {
        talk_say("The plan of the replay could not be written: %s.", strerror(errno));
    }
    if (out != NULL) {
        (void)fclose(out);
    }
    return is_written;
}

static void drop(struct plan *plan)
{
    for (uint32_t i = 0; plan->order != NULL && i < plan->thread_count; i++) {
        free(plan->threads[plan->order[i]].steps);
        free(plan->threads[plan->order[i]].free_places);
    }
    free(plan->threads);
    free(plan->order);
    free(plan->places);
}

bool trace_plan_write(const struct trace *trace, int file)
{
    struct plan plan = {.trace = trace,
                        .threads = calloc(TRACE_THREADS_MOST, sizeof plan.threads[0]),
                        .order = calloc(TRACE_THREADS_MOST, sizeof plan.order[0]),
                        .places = calloc(trace->event_count, sizeof plan.places[0])};
    plan.is_out_of_memory = plan.threads == NULL || plan.order == NULL || plan.places == NULL;
    for (size_t i = 0; !plan.is_out_of_memory && i < trace->turn_count; i++) {
        add_turn(&plan, trace->turns[i], (uint32_t)(i / PLAN_STRETCH_STEPS));
    }
    if (plan.is_out_of_memory) {
        talk_say("There is no memory for the plan of the replay.");
    }
    bool is_written = !plan.is_out_of_memory && write_to(&plan, file);
    drop(&plan);
    return is_written;
}
