// SPDX-License-Identifier: MIT
#include "thread/bin.h"

#include "backend/backend.h"
#include "os/os_process.h"
#include "policy/gates.h"
#include "route/route_table.h"
#include "stats/budget.h"

enum {
    LIMIT_MOST = 512,       // blocks in one list
    FIRST_BYTES = 2048,     // a class starts with about so much
    FIRST_COUNT_MOST = 32,  //
    FLUSH_COUNT = 128,      // blocks flushed under one taking of the lock
    TICKS_BETWEEN_LOOKS = 1024,
    COLLECTOR_SHARE = 32,            // of the heap's bound, one part
    LEAST_PROMISE_BYTES = 32 << 10,  // to a heap that comes when others have it all
    LIMIT_SHARE = 16,                // of the heap limit, one part for all stocks
    LIMIT_CAP_LEAST = 4,
};

// The longest list of each class; written once, before the first block is handed out.
static struct {
    uint16_t limit_most[CLASS_COUNT];
} bin_bounds;

void bin_init_bounds(void)
{
    // A class keeps a list and a reserve of half its length.
    size_t bytes = gates.bin_bytes / 3 * 2;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        size_t count = min_size(bytes / size_class_bytes((class_id)cls), LIMIT_MOST);
        bin_bounds.limit_most[cls] = (uint16_t)(bytes != 0 ? max_size(count, 1) : 0);
    }
}

static uint32_t first_limit(class_id cls)
{
    size_t count = FIRST_BYTES / size_class_bytes(cls);
    return (uint32_t)max_size(1, min_size(count, FIRST_COUNT_MOST));
}

// What a list of `limit` blocks and its reserve may hold.
static size_t promised_bytes(size_t limit, class_id cls)
{
    return (limit + (limit + 1) / 2) * size_class_bytes(cls);
}

static size_t collector_bytes_most(void)
{
    return gates.heap_bin_bytes / COLLECTOR_SHARE;
}

// Under a heap limit the stocks of all threads may be a small part of it: who reaches the limit can
// empty only its own.
static size_t total_bytes_most(void)
{
    size_t limit = budget_read(&budget.limit_bytes);
    return limit == 0 ? gates.total_bin_bytes
                      : min_size(gates.total_bin_bytes, limit / LIMIT_SHARE);
}

static size_t heap_bytes_most(const struct heap *heap)
{
    return gates.heap_bin_bytes << heap->bin_scale;
}

static uint32_t limit_most(const struct heap *heap, class_id cls)
{
    return (uint32_t)bin_bounds.limit_most[cls] << heap->bin_scale;
}

// Promises the bins `bytes` more, if this heap's and the process's bounds allow it.
static bool promise(struct heap *heap, size_t bytes)
{
    if (heap->bin_bytes + bytes > heap_bytes_most(heap) - collector_bytes_most()) {
        return false;
    }
    budget_add(&budget.bin_bytes, bytes);
    if (budget_read(&budget.bin_bytes) > total_bytes_most() &&
        heap->bin_bytes + bytes > LEAST_PROMISE_BYTES) {
        budget_subtract(&budget.bin_bytes, bytes);
        return false;
    }
    heap->bin_bytes += bytes;
    return true;
}

// The promises exceed their bound: all classes share what there is.  A class that swings by chance
// goes slow about once in limit^2 operations, so many equal limits serve better than a few long ones.
static bool lower_cap(struct heap *heap)
{
    if (heap->limit_cap <= LIMIT_CAP_LEAST) {
        return false;
    }
    heap->limit_cap -= heap->limit_cap / 4;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        if (heap->bins.limit[cls] > heap->limit_cap) {
            bin_empty(heap, (class_id)cls);
        }
    }
    return true;
}

// A class without a bin may have blocks of the heap all the same, from before its route changed.
static size_t next_limit(const struct heap *heap, class_id cls)
{
    if (unlikely(!route_has_bins(cls))) {
        return 0;
    }
    size_t limit = heap->bins.limit[cls];
    size_t wanted = limit == 0 ? first_limit(cls) : 2 * limit;
    return min_size(min_size(wanted, heap->limit_cap), limit_most(heap, cls));
}

// Doubles the limit of a class as far as the bounds allow.  False: it stays as it is.
static bool grow(struct heap *heap, class_id cls)
{
    size_t wanted = next_limit(heap, cls);
    while (wanted > heap->bins.limit[cls]) {
        uint32_t added = (uint32_t)wanted - heap->bins.limit[cls];
        size_t bytes = promised_bytes(wanted, cls) - promised_bytes(heap->bins.limit[cls], cls);
        if (promise(heap, bytes)) {
            // A reader in between sees a count that is too low, never one that is too high.
            heap->bins.room[cls] += added;
            compiler_barrier();
            heap->bins.limit[cls] += added;
            return true;
        }
        if (!lower_cap(heap)) {
            return false;
        }
        wanted = next_limit(heap, cls);
    }
    return false;
}

static void set_list(struct heap *heap, class_id cls, struct block *head, uint32_t count)
{
    heap->bins.room[cls] = heap->bins.limit[cls];
    compiler_barrier();
    heap->bins.head[cls] = head;
    compiler_barrier();
    heap->bins.room[cls] = heap->bins.limit[cls] - count;
}

static uint32_t reserve_count(const struct bin_reserve *reserve)
{
    return atomic_load_explicit(&reserve->count, memory_order_relaxed);
}

static struct block *next_checked(const struct heap *heap, class_id cls, struct block *block)
{
    struct block *next = link_decode(block->link, heap->link_key);
    if (unlikely(next != NULL && page_map_lookup(next) != (heap->slabs.tag | cls))) {
        die_damaged(block, size_class_bytes(cls));
    }
    return next;
}

// A list ended before its count did: its last block's link was written after the block was freed, by
// the program or by a second free, which put it on a list again.
static HAK_COLD _Noreturn void die_of_short_list(const struct heap *heap, class_id cls,
                                                 const struct block *last)
{
    if (last == NULL) {
        die("a list of free blocks lost them all: one was written after it was freed, or a signal "
            "handler called malloc inside malloc");
    }
    const struct block *block = heap->bins.head[cls];
    for (uint32_t i = bin_count(heap, cls); i != 0 && block != NULL; i--) {
        if (block == last) {
            die_misuse("double free", last, size_class_bytes(cls));
        }
        block = link_decode(block->link, heap->link_key);
    }
    if (backend_block_is_free(last)) {
        die_misuse("double free", last, size_class_bytes(cls));
    }
    die_damaged(last, size_class_bytes(cls));
}

// Gives a list back to the slabs.
static void flush_list(struct heap *heap, class_id cls, struct block *block, uint32_t count)
{
    struct block *last = NULL;
    bool is_cleared = harden_pads();  // a free block in a slab holds zeros
    while (count != 0) {
        void *blocks[FLUSH_COUNT];
        size_t taken = 0;
        for (; taken < FLUSH_COUNT && count != 0; count--) {
            if (unlikely(block == NULL)) {
                die_of_short_list(heap, cls, last);
            }
            last = block;
            blocks[taken++] = block;
            block = next_checked(heap, cls, block);
            if (unlikely(is_cleared)) {
                last->link = 0;
            }
        }
        lock_take(heap->slabs.lock);
        backend_flush(&heap->slabs, blocks, taken);
        lock_give(heap->slabs.lock);
    }
}

static void flush_reserve(struct heap *heap, class_id cls)
{
    struct bin_reserve *reserve = &heap->reserves[cls];
    struct block *chain = reserve->chain;
    uint32_t count = reserve_count(reserve);
    atomic_store_explicit(&reserve->count, 0, memory_order_relaxed);
    compiler_barrier();
    reserve->chain = NULL;
    flush_list(heap, cls, chain, count);
}

bool bin_take_reserve(struct heap *heap, class_id cls)
{
    struct bin_reserve *reserve = &heap->reserves[cls];
    struct block *chain = reserve->chain;
    uint32_t count = reserve_count(reserve);
    reserve->is_used = true;
    if (count == 0) {
        return false;
    }
    hak_assert(heap->bins.head[cls] == NULL);
    // Out of the reserve first: a fork in between loses the blocks in the child, the other order
    // would show them twice.
    atomic_store_explicit(&reserve->count, 0, memory_order_relaxed);
    reserve->chain = NULL;
    compiler_barrier();
    set_list(heap, cls, chain, count);
    return true;
}

size_t bin_refill_count(struct heap *heap, class_id cls)
{
    heap->reserves[cls].flush_count = 0;
    if (atomic_load_explicit(&heap->collector.count, memory_order_relaxed) != 0) {
        bin_flush_collector(heap);
    }
    (void)grow(heap, cls);
    return max_size(heap->bins.limit[cls], 1);
}

size_t bin_push_many(struct heap *heap, class_id cls, void *const *blocks, size_t count)
{
    count = min_size(count, heap->bins.room[cls]);
    struct block *head = heap->bins.head[cls];
    // The first of them is to be popped first.
    for (size_t i = count; i-- > 0;) {
        struct block *block = blocks[i];
        block->link = link_encode(head, heap->link_key);
        head = block;
    }
    compiler_barrier();
    heap->bins.head[cls] = head;
    compiler_barrier();
    heap->bins.room[cls] -= (uint32_t)count;
    return count;
}

// Cuts a full list behind its newer half; the older half becomes the reserve.  With half a list on
// each side the next miss and the next overflow are both far away.
static void set_aside(struct heap *heap, class_id cls)
{
    struct bin_reserve *reserve = &heap->reserves[cls];
    uint32_t limit = heap->bins.limit[cls];
    uint32_t kept = limit / 2;
    hak_assert(heap->bins.room[cls] == 0);
    struct block *last_kept = NULL;
    struct block *block = heap->bins.head[cls];
    for (uint32_t i = 0; i < kept; i++) {
        last_kept = block;
        block = block != NULL ? next_checked(heap, cls, block) : NULL;
        if (unlikely(block == NULL)) {
            die_of_short_list(heap, cls, last_kept);
        }
    }
    // The count first: it may be too low at any time, never too high.
    heap->bins.room[cls] = limit - kept;
    compiler_barrier();
    if (last_kept != NULL) {
        last_kept->link = link_encode(NULL, heap->link_key);
    } else {
        heap->bins.head[cls] = NULL;
    }
    compiler_barrier();
    reserve->chain = block;
    compiler_barrier();
    atomic_store_explicit(&reserve->count, limit - kept, memory_order_relaxed);
}

// Makes room in a bin.  False: the class keeps none.
static bool make_room(struct heap *heap, class_id cls)
{
    struct bin_reserve *reserve = &heap->reserves[cls];
    reserve->is_used = true;
    // A class that keeps swinging over its limit gets a longer list every second time.
    bool can_set_aside = heap->bins.limit[cls] != 0 && reserve_count(reserve) == 0;
    reserve->is_swinging = !reserve->is_swinging;
    if (!(can_set_aside && reserve->is_swinging) && grow(heap, cls)) {
        return true;
    }
    if (heap->bins.limit[cls] == 0) {
        return false;
    }
    if (!can_set_aside) {
        reserve->flush_count++;
        flush_reserve(heap, cls);
        heap_purge_if_due(heap);
    }
    set_aside(heap, cls);
    return true;
}

void bin_flush_collector(struct heap *heap)
{
    void *blocks[COLLECTOR_COUNT];
    uint32_t count = atomic_load_explicit(&heap->collector.count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) {
        blocks[i] = atomic_load_explicit(&heap->collector.blocks[i], memory_order_relaxed);
    }
    atomic_store_explicit(&heap->collector.count, 0, memory_order_relaxed);
    heap->collector.bytes = 0;
    lock_take(heap->slabs.lock);
    backend_flush(&heap->slabs, blocks, count);
    lock_give(heap->slabs.lock);
}

static void overflow(struct heap *heap, class_id cls, void *block)
{
    if (bin_is_collecting(heap, cls)) {
        bin_flush_collector(heap);
        heap_purge_if_due(heap);
        if (bin_collect(heap, cls, block)) {
            return;
        }
    }
    bin_tick(heap);
    if (make_room(heap, cls)) {
        bin_push(heap, cls, block);
    } else {
        lock_take(heap->slabs.lock);
        backend_flush(&heap->slabs, &block, 1);
        lock_give(heap->slabs.lock);
        heap_purge_if_due(heap);
    }
}

void bin_overflow(struct heap *heap, class_id cls, void *block)
{
    uint64_t start = learner_time();
    overflow(heap, cls, block);
    learner_note(heap, start, false);
}

void bin_init(struct heap *heap)
{
    heap->limit_cap = LIMIT_MOST;
    heap->collector.bytes_most = collector_bytes_most();
}

void bin_empty(struct heap *heap, class_id cls)
{
    uint32_t limit = heap->bins.limit[cls];
    flush_reserve(heap, cls);
    struct block *chain = heap->bins.head[cls];
    uint32_t count = bin_count(heap, cls);
    set_list(heap, cls, NULL, 0);
    heap->bins.limit[cls] = 0;
    heap->bins.room[cls] = 0;
    flush_list(heap, cls, chain, count);
    size_t bytes = promised_bytes(limit, cls);
    heap->bin_bytes -= bytes;
    budget_subtract(&budget.bin_bytes, bytes);
}

void bin_set_scale(struct heap *heap, unsigned scale)
{
    heap->bin_scale = (uint8_t)scale;
    heap->limit_cap = (uint32_t)LIMIT_MOST << scale;
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        if (heap->bins.limit[cls] > limit_most(heap, (class_id)cls)) {
            bin_empty(heap, (class_id)cls);
        }
    }
    while (heap->bin_bytes > heap_bytes_most(heap) && lower_cap(heap)) {
    }
}

// A list is always whole, but its count may be behind it.
static uint32_t list_length(const struct heap *heap, class_id cls, struct block *block)
{
    uint32_t length = 0;
    for (; block != NULL; block = next_checked(heap, cls, block)) {
        length++;
    }
    return length;
}

void bin_repair(struct heap *heap)
{
    size_t promised = 0;
    for (unsigned i = 1; i < CLASS_COUNT; i++) {
        class_id cls = (class_id)i;
        struct bin_reserve *reserve = &heap->reserves[cls];
        uint32_t length = list_length(heap, cls, heap->bins.head[cls]);
        uint32_t limit = (uint32_t)max_size(heap->bins.limit[cls], length);
        heap->bins.limit[cls] = limit;
        heap->bins.room[cls] = limit - length;
        uint32_t aside = list_length(heap, cls, reserve->chain);
        atomic_store_explicit(&reserve->count, aside, memory_order_relaxed);
        promised += promised_bytes(limit, cls);
    }
    budget_subtract(&budget.bin_bytes, heap->bin_bytes);
    budget_add(&budget.bin_bytes, promised);
    heap->bin_bytes = promised;
}

void bin_tick(struct heap *heap)
{
    if (++heap->tick % TICKS_BETWEEN_LOOKS != 0) {
        return;
    }
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        if (heap->bins.limit[cls] != 0 && !heap->reserves[cls].is_used) {
            bin_empty(heap, (class_id)cls);
        }
        heap->reserves[cls].is_used = false;
    }
    if (heap->bin_bytes < heap_bytes_most(heap) / 2) {
        heap->limit_cap =
            (uint32_t)min_size(2 * (size_t)heap->limit_cap, LIMIT_MOST << heap->bin_scale);
    }
}
