// SPDX-License-Identifier: MIT
#include "thread/heap_stats.h"

#include "backend/large.h"
#include "base/text.h"
#include "os/os_memory.h"
#include "os/os_process.h"
#include "stats/budget.h"
#include "thread/bin.h"
#include "thread/heap_registry.h"
#include "thread/lane.h"
#include "thread/quarantine.h"
#include "thread/remote_free.h"

#include <string.h>

static void add_class(const struct heap *heap, unsigned cls, size_t collected,
                      struct class_figures *figures)
{
    const struct slab_class *class = &heap->slabs.classes[cls];
    size_t binned = bin_count_of_other(heap, cls) +
                    atomic_load_explicit(&heap->reserves[cls].count, memory_order_relaxed);
    binned += collected;
    size_t out = class->block_count - class->free_count;
    // The owner may move its bins while we look.
    binned = min_size(binned, out);
    figures->slab_count += class->slab_count;
    figures->free_count += class->free_count;
    figures->bin_count += binned;
    figures->live_count += out - binned;  // those between threads included, up to add_classes
}

// Collected blocks count as blocks in bins.
static void count_collected(struct heap *heap, size_t *counts)
{
    uint32_t count = atomic_load_explicit(&heap->collector.count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        const void *block = atomic_load_explicit(&heap->collector.blocks[i], memory_order_relaxed);
        unsigned cls = page_entry_class(page_map_lookup(block));
        counts[cls < CLASS_COUNT ? cls : 0]++;
    }
}

static bool is_in_use(const struct heap *heap)
{
    if (heap->kind == HEAP_THREAD) {
        return !atomic_load_explicit(&heap->is_parked, memory_order_relaxed);
    }
    return heap->kind == HEAP_SHARED && heap != heap_pool && heap != heap_exit && !heap->is_unused;
}

static void add_heap(struct heap *heap, struct hak_stats *stats, struct class_figures *classes)
{
    lock_take(heap->slabs.lock);
    size_t transit[CLASS_COUNT] = {0};
    size_t collected[CLASS_COUNT] = {0};
    size_t stocked[CLASS_COUNT] = {0};
    remote_free_count(heap, transit);
    count_collected(heap, collected);
    lane_count_stocks(heap, stocked);
    quarantine_count(heap, stocked);  // as free as those
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        add_class(heap, cls, collected[cls], &classes[cls]);
        classes[cls].transit_count += transit[cls];
        classes[cls].stock_count += stocked[cls];
    }
    stats->slab_free_bytes += heap->slabs.idle_bytes;
    stats->refill_count += heap->slabs.refill_count;
    stats->flush_count += heap->slabs.flush_count;
    lock_give(heap->slabs.lock);
    stats->heap_count += is_in_use(heap);
    stats->remote_count += atomic_load_explicit(&heap->sent_count, memory_order_relaxed);
}

static void add_classes(struct hak_stats *stats, struct class_figures *classes)
{
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        size_t bytes = size_class_bytes((class_id)cls);
        size_t stock_count = min_size(classes[cls].stock_count, classes[cls].live_count);
        classes[cls].live_count -= stock_count;
        classes[cls].bin_count += stock_count;
        classes[cls].live_count -= min_size(classes[cls].transit_count, classes[cls].live_count);
        stats->transit_bytes += classes[cls].transit_count * bytes;
        stats->live_bytes += classes[cls].live_count * bytes;
        stats->live_blocks += classes[cls].live_count;
        stats->bin_bytes += classes[cls].bin_count * bytes;
        stats->slab_free_bytes += classes[cls].free_count * bytes;
        stats->slab_count += classes[cls].slab_count;
    }
}

void heap_stats_read(struct hak_stats *stats, struct class_figures classes[CLASS_COUNT])
{
    struct large_figures large;
    memset(stats, 0, sizeof *stats);
    memset(classes, 0, CLASS_COUNT * sizeof *classes);
    stats->struct_bytes = sizeof *stats;
    uint32_t heap_count = heap_registry_count();
    for (uint32_t tag = 1; tag <= heap_count; tag++) {
        add_heap(heap_registry_lookup(tag), stats, classes);
    }
    add_classes(stats, classes);
    large_read_figures(&large);
    stats->large_bytes = large.live_bytes;
    stats->large_blocks = large.live_count;
    stats->live_bytes += large.live_bytes;
    stats->live_blocks += large.live_count;
    stats->dirty_bytes = budget_read(&budget.dirty_bytes);
    stats->committed_bytes = budget_read(&budget.committed_bytes);
    stats->mapped_bytes = budget_read(&budget.mapped_bytes);
    stats->record_bytes = budget_read(&budget.record_bytes);
    stats->peak_committed_bytes = budget_peak();
    stats->purged_bytes = budget_read(&budget.purged_bytes);
    stats->limit_bytes = budget_read(&budget.limit_bytes);
    stats->parked_count = heap_registry_parked_count();
    stats->os_call_count = os_memory_call_count();
}

static void add_member(struct text *text, const char *name, size_t value)
{
    text_add(text, text->length > 1 ? ",\"" : "\"");
    text_add(text, name);
    text_add(text, "\":");
    text_add_uint(text, value);
}

static void add_members(struct text *text, const struct hak_stats *stats)
{
#define MEMBER(name) add_member(text, #name, stats->name)
    MEMBER(live_bytes);
    MEMBER(live_blocks);
    MEMBER(large_bytes);
    MEMBER(large_blocks);
    MEMBER(bin_bytes);
    MEMBER(transit_bytes);
    MEMBER(slab_free_bytes);
    MEMBER(dirty_bytes);
    MEMBER(committed_bytes);
    MEMBER(mapped_bytes);
    MEMBER(record_bytes);
    MEMBER(peak_committed_bytes);
    MEMBER(purged_bytes);
    MEMBER(limit_bytes);
    MEMBER(heap_count);
    MEMBER(parked_count);
    MEMBER(slab_count);
    MEMBER(refill_count);
    MEMBER(flush_count);
    MEMBER(remote_count);
    MEMBER(os_call_count);
#undef MEMBER
}

static void add_class_rows(struct text *text, const struct class_figures *classes)
{
    const char *separator = "{\"class_bytes\":";
    text_add(text, ",\"classes\":[");
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        if (classes[cls].slab_count == 0) {
            continue;
        }
        text_add(text, separator);
        text_add_uint(text, size_class_bytes((class_id)cls));
        add_member(text, "live_blocks", classes[cls].live_count);
        add_member(text, "bin_blocks", classes[cls].bin_count);
        add_member(text, "free_blocks", classes[cls].free_count);
        add_member(text, "slabs", classes[cls].slab_count);
        text_add(text, "}");
        separator = ",{\"class_bytes\":";
    }
    text_add(text, "]");
}

static size_t sum_counter(size_t offset)
{
    size_t sum = 0;
    for (uint32_t tag = 1; tag <= heap_registry_count(); tag++) {
        const char *counters = (const char *)&heap_registry_lookup(tag)->gated.counters;
        sum += atomic_load_explicit((const _Atomic size_t *)(const void *)(counters + offset),
                                    memory_order_relaxed);
    }
    return sum;
}

// Which way the gated front's calls went, in all heaps together.
static void add_front(struct text *text)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
#define ROW(name, counter) {name, offsetof(struct front_counters, counter)}
        ROW("malloc_legacy", mallocs[BACKEND_LEGACY]),
        ROW("malloc_ultra", mallocs[BACKEND_ULTRA]),
        ROW("malloc_v7", mallocs[BACKEND_V7]),
        ROW("malloc_mid_v3", mallocs[BACKEND_MID_V3]),
        ROW("malloc_declined", declined),
        ROW("free_legacy", frees[BACKEND_LEGACY]),
        ROW("free_ultra", frees[BACKEND_ULTRA]),
        ROW("free_v7", frees[BACKEND_V7]),
        ROW("free_mid_v3", frees[BACKEND_MID_V3]),
        ROW("malloc_snapshot_reads", malloc_snapshot_reads),
        ROW("malloc_static_reads", malloc_static_reads),
        ROW("free_snapshot_reads", free_snapshot_reads),
        ROW("free_static_reads", free_static_reads),
#undef ROW
    };
    text_add(text, ",\"gated_front\":{\"policy_lookups\":");
    text_add_uint(text, sum_counter(offsetof(struct front_counters, policy_lookups)));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        add_member(text, rows[i].name, sum_counter(rows[i].offset));
    }
    text_add(text, "}");
}

size_t heap_stats_json(char *buffer, size_t bytes)
{
    struct hak_stats stats;
    struct class_figures classes[CLASS_COUNT];
    struct text text = text_start(buffer, bytes);
    heap_stats_read(&stats, classes);
    text_add(&text, "{");
    add_member(&text, "pid", (size_t)os_process_id());
    add_members(&text, &stats);
    add_class_rows(&text, classes);
    if (gated_front_is_wanted()) {
        add_front(&text);
    }
    if (gates.learner) {
        learner_add_json(&text);
    }
    text_add(&text, "}");
    return text.length;
}
