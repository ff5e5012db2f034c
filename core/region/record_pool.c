// SPDX-License-Identifier: MIT
#include "region/record_pool.h"

#include "base/bits.h"
#include "os/os_memory.h"
#include "os/os_thread.h"
#include "stats/budget.h"

enum {
    RECORD_ALIGN_BYTES = 64,
    CHUNK_BYTES_FIRST = 64 << 10,
    CHUNK_BYTES_MOST = 4 << 20,
};

// Guarded by record_pool.lock.
static struct {
    struct lock lock;
    char *free_start;
    size_t free_bytes;
    size_t next_chunk_bytes;
} record_pool;

void *record_map(size_t bytes)
{
    size_t page_bytes = os_page_bytes();
    size_t inner_bytes = align_up(bytes, page_bytes);
    size_t whole_bytes = inner_bytes + 2 * page_bytes;
    char *memory = os_map(whole_bytes, page_bytes);
    if (memory == NULL) {
        return NULL;
    }
    os_avoid_huge_pages(memory, whole_bytes);
    (void)os_guard(memory, page_bytes);
    (void)os_guard(memory + page_bytes + inner_bytes, page_bytes);
    budget_add(&budget.mapped_bytes, whole_bytes);
    return memory + page_bytes;
}

// The system calls are made without the lock.  When two threads add a chunk at once, the rest of the
// first one's is lost: a few KiB that were never touched.
static bool add_chunk(size_t bytes)
{
    lock_take(&record_pool.lock);
    size_t chunk_bytes = max_size(record_pool.next_chunk_bytes, CHUNK_BYTES_FIRST);
    lock_give(&record_pool.lock);
    chunk_bytes = max_size(chunk_bytes, bytes);
    char *chunk = record_map(chunk_bytes);
    if (chunk == NULL) {
        return false;
    }
    lock_take(&record_pool.lock);
    record_pool.free_start = chunk;
    record_pool.free_bytes = chunk_bytes;
    record_pool.next_chunk_bytes = min_size(2 * chunk_bytes, CHUNK_BYTES_MOST);
    lock_give(&record_pool.lock);
    return true;
}

static void *take_from_chunk(size_t bytes)
{
    char *record = NULL;
    lock_take(&record_pool.lock);
    if (bytes <= record_pool.free_bytes) {
        record = record_pool.free_start;
        record_pool.free_start += bytes;
        record_pool.free_bytes -= bytes;
    }
    lock_give(&record_pool.lock);
    return record;
}

void *record_take(size_t bytes)
{
    bytes = align_up(bytes, RECORD_ALIGN_BYTES);
    if (!budget_commit(bytes)) {
        return NULL;
    }
    void *record = take_from_chunk(bytes);
    while (record == NULL && add_chunk(bytes)) {
        record = take_from_chunk(bytes);
    }
    if (record != NULL) {
        budget_add(&budget.record_bytes, bytes);
    } else {
        budget_subtract(&budget.committed_bytes, bytes);
    }
    return record;
}

void record_pool_lock(void)
{
    lock_take(&record_pool.lock);
}

void record_pool_unlock(void)
{
    lock_give(&record_pool.lock);
}
