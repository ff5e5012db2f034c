// SPDX-License-Identifier: MIT
#include "thread/learner.h"

#include "base/text.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "thread/process.h"

enum {
    SHARE_ONE = 10000,  // the whole of a thread's time

    // Of a thread's bins.
    EPOCH_MS = 20,
    EPOCH_CPU_NS_LEAST =
        2000000,         // with less of a thread's own time in it there is nothing to judge
    SLOW_US_MOST = 100,  // a longer slow path was interrupted
    SHARE_WORTH = 200,   // of slow paths: worth more memory
    SHARE_LOW = 12,      // less memory might do
    SCALE_MOST = 2,
    FIRST_PATIENCE = 4,  // epochs
    PATIENCE_MOST = 1024,

    // Of lanes.
    LANE_HEAPS_LEAST = 32,  // fewer threads have little to share; with half of it classes come back
    LANE_IDLE_BYTES_LEAST = 1 << 20,
    LANE_REFILLS_MOST = 16,  // of each thread between two looks, and one more for each millisecond
    LANE_SHARE_MOST = 1000,  // of a thread's time
    LANE_LOOK_MS = 4,        // between looks at a class, for each heap that must be looked into
    LANE_FIRST_PATIENCE_MS = 1000,
    LANE_PATIENCE_MOST_MS = 1000000,

    DECISION_COUNT = 32,
};

enum decision_kind {
    BINS_CHANGED,
    BINS_RESTORED,
    LANES_ENTERED,
    LANES_LEFT_FOR_TIME,
    LANES_LEFT_FOR_THREADS,
    DECISION_KIND_COUNT,
};

// What the threads that live have of a class.
struct class_use {
    size_t idle_bytes;
    size_t live_bytes;
    size_t refill_count;  // of all classes, since the start
    uint32_t heap_count;
};

// What is decided, and why.
struct decision {
    uint8_t kind;        // enum decision_kind
    class_id cls;        // of lanes
    uint8_t scale_from;  // of bins
    uint8_t scale_to;
    uint32_t owner_tag;     // the heap whose thread decided
    uint32_t share_before;  // of its time, in slow paths
    uint32_t share_after;   // the same, or in lanes
    struct class_use use;   // of lanes
};

// What is known of a class in lanes or out of them; times in ticks.
struct lane_class {
    _Atomic uint64_t next_look;   // relaxed: whose exchange succeeds, looks
    _Atomic uint32_t next_count;  // or when there are so many heaps
    uint64_t wait_until;          // it stays out of lanes
    uint64_t looked_at;           // 0: never
    size_t refill_count;          // of all threads then
    uint32_t patience_ms;         // of the last wait
};

// Invariant: decisions[0 .. min(count, DECISION_COUNT)) are the last ones, that of number n at
// n % DECISION_COUNT.  The lock of the settings guards all but the atomics.
static struct {
    size_t counts[DECISION_KIND_COUNT];
    size_t count;
    struct decision decisions[DECISION_COUNT];
    struct lane_class lanes[TINY_CLASS_COUNT];
} learned;

static bool is_frozen(void)
{
    return gates.tiny_static_route == FRONT_CHOICE_1;
}

// Under the lock.
static void note_decision(const struct heap *heap, const struct decision *decision)
{
    struct decision *kept = &learned.decisions[learned.count % DECISION_COUNT];
    *kept = *decision;
    kept->owner_tag = heap->owner_tag;
    learned.count++;
    learned.counts[decision->kind]++;
}

void learner_add(struct heap *heap, uint64_t start, bool is_lane)
{
    uint64_t most = SLOW_US_MOST * (os_ticks_per_ms() / 1000);
    uint64_t ticks = min_size(os_ticks() - start, most);
    heap->learner.slow_ticks += ticks;
    heap->learner.lane_ticks += is_lane ? ticks : 0;
}

// ---- Bins

static void try_scale(struct heap *heap, unsigned scale, uint32_t share)
{
    struct learner *learner = &heap->learner;
    learner->former_scale = heap->bin_scale;
    learner->share_before = share;
    learner->step = LEARNER_SETTLING;
    bin_set_scale(heap, scale);
}

// A share that has doubled or halved since a step was refused is another workload's.
static bool is_other_phase(const struct learner *learner, uint32_t share)
{
    uint32_t least = (uint32_t)min_size(share, learner->share_seen);
    uint32_t most = (uint32_t)max_size(share, learner->share_seen);
    return most >= SHARE_WORTH && most / 2 > least;
}

static void watch(struct heap *heap, uint32_t share)
{
    struct learner *learner = &heap->learner;
    if (learner->wait != 0 && is_other_phase(learner, share)) {
        learner->wait = 0;
        learner->patience = FIRST_PATIENCE;
    }
    if (learner->wait != 0) {
        learner->wait--;
    } else if (share >= SHARE_WORTH && heap->bin_scale < SCALE_MOST) {
        try_scale(heap, heap->bin_scale + 1u, share);
    } else if (share <= SHARE_LOW && heap->bin_scale != 0) {
        try_scale(heap, heap->bin_scale - 1u, share);
    }
}

// More memory must save a quarter of the time; less of it must not make the slow paths worth more.
static void judge(struct heap *heap, uint32_t share)
{
    struct learner *learner = &heap->learner;
    unsigned scale = heap->bin_scale;
    bool is_longer = scale > learner->former_scale;
    bool is_kept = is_longer ? share <= learner->share_before / 4 * 3 : share < SHARE_WORTH / 2;
    struct decision decision = {
        .kind = is_kept ? BINS_CHANGED : BINS_RESTORED,
        .scale_from = learner->former_scale,
        .scale_to = (uint8_t)scale,
        .share_before = learner->share_before,
        .share_after = share,
    };
    learner->step = LEARNER_WATCHING;
    if (is_kept) {
        learner->patience = FIRST_PATIENCE;
    } else {
        bin_set_scale(heap, learner->former_scale);
        learner->share_seen = learner->share_before;
        learner->patience = learner->patience != 0 ? learner->patience : FIRST_PATIENCE;
        learner->wait = learner->patience;
        learner->patience = (uint32_t)min_size(2 * (size_t)learner->patience, PATIENCE_MOST);
    }
    process_settings_lock();
    note_decision(heap, &decision);
    process_settings_unlock();
}

// ---- Lanes

// What threads have of a class, read without their locks: close enough to judge by.
__attribute__((no_sanitize_thread)) static struct class_use read_use(class_id cls)
{
    struct class_use use = {0};
    size_t idle = 0;
    size_t blocks = 0;
    for (uint32_t tag = 1; tag <= heap_registry_count(); tag++) {
        const struct heap *heap = heap_registry_lookup(tag);
        if (heap->kind != HEAP_THREAD ||
            atomic_load_explicit(&heap->is_parked, memory_order_relaxed)) {
            continue;
        }
        const struct slab_class *class = &heap->slabs.classes[cls];
        use.heap_count++;
        use.refill_count += heap->slabs.refill_count;
        blocks += class->block_count;
        idle += class->free_count + bin_count_of_other(heap, cls) +
                atomic_load_explicit(&heap->reserves[cls].count, memory_order_relaxed);
    }
    idle = min_size(idle, blocks);
    use.idle_bytes = idle * size_class_bytes(cls);
    use.live_bytes = (blocks - idle) * size_class_bytes(cls);
    return use;
}

// All classes leave together: what one of them takes too much of, the next would take as well.  Under
// the lock.
static void leave_lanes(const struct heap *heap, uint64_t now, const struct decision *why)
{
    bool is_any = false;
    for (unsigned cls = 1; cls < TINY_CLASS_COUNT; cls++) {
        struct lane_class *lane = &learned.lanes[cls];
        if (route_table.is_in_lanes[cls]) {
            is_any = true;
            route_table.is_in_lanes[cls] = false;
            size_t patience_ms = min_size(2 * (size_t)lane->patience_ms, LANE_PATIENCE_MOST_MS);
            lane->patience_ms = (uint32_t)max_size(patience_ms, LANE_FIRST_PATIENCE_MS);
            lane->wait_until = now + lane->patience_ms * os_ticks_per_ms();
        }
    }
    if (is_any) {
        route_table_follow_gates();
        note_decision(heap, why);
    }
}

// Lanes are slow: they are for threads that don't do much.
static bool is_calm(struct lane_class *lane, const struct class_use *use, uint64_t now)
{
    uint64_t ms = (now - lane->looked_at) / os_ticks_per_ms();
    size_t refill_count = use->refill_count - min_size(lane->refill_count, use->refill_count);
    bool is_first = lane->looked_at == 0;
    lane->looked_at = now;
    lane->refill_count = use->refill_count;
    return !is_first && refill_count / max_size(use->heap_count, 1) <= LANE_REFILLS_MOST + ms;
}

static bool is_worth_lanes(class_id cls, const struct class_use *use, uint64_t now)
{
    return route_backend(cls) == BACKEND_LEGACY && route_of(cls) != ROUTE_POOL_ONLY &&
           use->heap_count >= LANE_HEAPS_LEAST && use->idle_bytes >= LANE_IDLE_BYTES_LEAST &&
           use->idle_bytes >= use->live_bytes && now >= learned.lanes[cls].wait_until;
}

// Under the lock.
static void look_at_class(const struct heap *heap, class_id cls, uint64_t now)
{
    struct class_use use = read_use(cls);
    bool is_calm_now = is_calm(&learned.lanes[cls], &use, now);
    struct decision decision = {.cls = cls, .use = use};
    if (!route_table.is_in_lanes[cls]) {
        if (is_calm_now && is_worth_lanes(cls, &use, now)) {
            decision.kind = LANES_ENTERED;
            route_table.is_in_lanes[cls] = true;
            route_table_follow_gates();
            note_decision(heap, &decision);
        }
    } else if (use.heap_count < LANE_HEAPS_LEAST / 2) {
        decision.kind = LANES_LEFT_FOR_THREADS;
        leave_lanes(heap, now, &decision);
    }
}

// One thread at a time for each class, and not often: it reads a line or two of every heap.
static void look_at_lanes(const struct heap *heap, class_id cls, uint64_t now)
{
    uint32_t heap_count = heap_registry_count();
    if (cls >= TINY_CLASS_COUNT || heap_count < LANE_HEAPS_LEAST) {
        return;
    }
    struct lane_class *lane = &learned.lanes[cls];
    uint64_t due = atomic_load_explicit(&lane->next_look, memory_order_relaxed);
    uint64_t next = now + heap_count * LANE_LOOK_MS * os_ticks_per_ms();
    bool is_due =
        now >= due || heap_count >= atomic_load_explicit(&lane->next_count, memory_order_relaxed);
    if (is_due && atomic_compare_exchange_strong_explicit(
                      &lane->next_look, &due, next, memory_order_relaxed, memory_order_relaxed)) {
        atomic_store_explicit(&lane->next_count, heap_count + heap_count / 2, memory_order_relaxed);
        process_settings_lock();
        look_at_class(heap, cls, now);
        process_settings_unlock();
    }
}

static void look_at_lane_time(const struct heap *heap, uint64_t now, uint32_t share)
{
    if (share > LANE_SHARE_MOST) {
        struct decision decision = {.kind = LANES_LEFT_FOR_TIME, .share_after = share};
        process_settings_lock();
        leave_lanes(heap, now, &decision);
        process_settings_unlock();
    }
}

// ---- Both

static void begin_epoch(struct learner *learner, uint64_t now)
{
    learner->epoch_start = now;
    learner->wall_start = os_clock_ns(CLOCK_MONOTONIC);
    learner->cpu_start = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    learner->slow_ticks = 0;
    learner->lane_ticks = 0;
}

// The part of the epoch, in ticks, in which the thread ran; 0 when that was hardly ever.
static uint64_t ticks_run(const struct learner *learner, uint64_t now)
{
    uint64_t wall_ns = os_clock_ns(CLOCK_MONOTONIC) - learner->wall_start;
    uint64_t cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - learner->cpu_start;
    if (cpu_ns < EPOCH_CPU_NS_LEAST) {
        return 0;
    }
    uint64_t thousandths = min_size(cpu_ns / (wall_ns / 1000 + 1), 1000);
    return (now - learner->epoch_start) / 1000 * max_size(thousandths, 1);
}

static uint32_t share_of(uint64_t ticks, uint64_t ticks_in_all)
{
    return (uint32_t)min_size(ticks / (ticks_in_all / SHARE_ONE + 1), SHARE_ONE);
}

static void end_epoch(struct heap *heap, uint64_t now, uint64_t ticks)
{
    struct learner *learner = &heap->learner;
    // What lanes take, longer bins don't save.
    uint32_t lane_share = share_of(learner->lane_ticks, ticks);
    uint32_t share = share_of(learner->slow_ticks - learner->lane_ticks, ticks);
    if (learner->step == LEARNER_WATCHING) {
        watch(heap, share);
    } else if (learner->step == LEARNER_SETTLING) {
        learner->step = LEARNER_MEASURING;
    } else {
        judge(heap, share);
    }
    look_at_lane_time(heap, now, lane_share);
}

void learner_look(struct heap *heap, class_id cls)
{
    struct learner *learner = &heap->learner;
    if (is_frozen()) {
        return;
    }
    uint64_t now = os_ticks();
    look_at_lanes(heap, cls, now);
    if (learner->epoch_start == 0) {
        begin_epoch(learner, now);
    } else if (now - learner->epoch_start >= EPOCH_MS * os_ticks_per_ms()) {
        uint64_t ticks = ticks_run(learner, now);
        if (ticks != 0) {
            end_epoch(heap, now, ticks);
            begin_epoch(learner, now);
        }
    }
}

void learner_forget(struct heap *heap)
{
    if (heap->bin_scale != 0) {
        bin_set_scale(heap, 0);
    }
    heap->learner = (struct learner){0};
}

// ---- Statistics

static void add_percent(struct text *text, uint32_t share)
{
    text_add_uint(text, share / 100);
    text_add(text, share % 100 < 10 ? ".0" : ".");
    text_add_uint(text, share % 100);
    text_add(text, " %");
}

static void add_bin_sentence(struct text *text, const struct decision *decision)
{
    text_add(text, "bins may hold ");
    text_add_uint(text, 1u << decision->scale_to);
    text_add(text, " times what the gates say, not ");
    text_add_uint(text, 1u << decision->scale_from);
    text_add(text, ": refills and flushes took ");
    add_percent(text, decision->share_before);
    text_add(text, " of the thread's time, then ");
    add_percent(text, decision->share_after);
    text_add(text, decision->kind == BINS_CHANGED ? "; kept" : "; taken back");
}

static void add_lane_sentence(struct text *text, const struct decision *decision)
{
    if (decision->kind == LANES_ENTERED) {
        text_add(text, "blocks of ");
        text_add_uint(text, size_class_bytes(decision->cls));
        text_add(text, " bytes come from lanes: ");
        text_add_uint(text, decision->use.heap_count);
        text_add(text, " threads keep ");
        text_add_uint(text, decision->use.idle_bytes);
        text_add(text, " bytes of them free beside ");
        text_add_uint(text, decision->use.live_bytes);
        text_add(text, " live");
        return;
    }
    text_add(text, "no more blocks come from lanes: ");
    if (decision->kind == LANES_LEFT_FOR_TIME) {
        text_add(text, "they took ");
        add_percent(text, decision->share_after);
        text_add(text, " of a thread's time");
    } else {
        text_add(text, "only ");
        text_add_uint(text, decision->use.heap_count);
        text_add(text, " threads are left");
    }
}

static void add_decision(struct text *text, size_t number)
{
    const struct decision *decision = &learned.decisions[number % DECISION_COUNT];
    bool is_of_bins = decision->kind == BINS_CHANGED || decision->kind == BINS_RESTORED;
    text_add(text, "{\"number\":");
    text_add_uint(text, number + 1);
    text_add(text, ",\"heap\":");
    text_add_uint(text, decision->owner_tag);
    text_add(text, ",\"decision\":\"");
    (is_of_bins ? add_bin_sentence : add_lane_sentence)(text, decision);
    text_add(text, "\"}");
}

void learner_add_json(struct text *text)
{
    static const char *const names[DECISION_KIND_COUNT] = {"bins_changed", "bins_restored",
                                                           "lanes_entered", "lanes_left_for_time",
                                                           "lanes_left_for_threads"};
    text_add(text, ",\"learner\":{\"frozen\":");
    text_add(text, is_frozen() ? "true" : "false");
    process_settings_lock();
    for (size_t kind = 0; kind < DECISION_KIND_COUNT; kind++) {
        text_add(text, ",\"");
        text_add(text, names[kind]);
        text_add(text, "\":");
        text_add_uint(text, learned.counts[kind]);
    }
    text_add(text, ",\"last\":[");
    size_t first = learned.count > DECISION_COUNT ? learned.count - DECISION_COUNT : 0;
    for (size_t number = first; number < learned.count; number++) {
        text_add(text, number != first ? "," : "");
        add_decision(text, number);
    }
    process_settings_unlock();
    text_add(text, "]}");
}
