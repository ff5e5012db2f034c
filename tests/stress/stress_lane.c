// A lane of the stress test; see stress_lane.h.
// SPDX-License-Identifier: MIT
#include "stress_lane.h"

#include "stress_allocator.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BATCH_MOST = 300,
    RECEIVE_MOST = 32,
    GENERATION_LEAST = 500,
    GENERATION_SPREAD = 20000,
    DESTRUCTOR_BLOCK_COUNT = 12,
};

static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

// ---- Faults -------------------------------------------------------------------------------------

_Noreturn static void report(const struct lane *lane, const char *what)
{
    const struct stress_run *run = lane->run;
    char text[700];
    int length = snprintf(
        text, sizeof(text),
        "stress: FAULT seed %llu, threads %zu, lane %zu, operation %llu (%s, %zu bytes): %s\n"
        "stress: replay with --seed %llu --threads %zu --ops %llu\n",
        (unsigned long long)run->seed, run->lane_count, lane->index,
        (unsigned long long)lane->op_number, lane->op_name, lane->op_bytes, what,
        (unsigned long long)run->seed, run->lane_count, (unsigned long long)lane->op_number + 1);
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written;
    _exit(1);
}

static void begin_op(struct lane *lane, const char *name, size_t bytes)
{
    lane->op_name = name;
    lane->op_bytes = bytes;
}

// ---- Blocks -------------------------------------------------------------------------------------

// Most requests of real programs are small; few are big, but those hold most of the memory.
static size_t draw_size(struct random_stream *random)
{
    size_t kind = random_below(random, 1000);
    if (kind < 20) {
        return 0;
    }
    if (kind < 600) {
        return random_below(random, 256);
    }
    if (kind < 830) {
        return random_below(random, 1100);
    }
    if (kind < 960) {
        return random_below(random, 32 << 10);
    }
    if (kind < 994) {
        return random_below(random, 300 << 10);
    }
    return random_below(random, 5 << 20);
}

static void admit(struct lane *lane, const struct shadow_block *block)
{
    struct shadow_fault fault;
    if (!shadow_insert(lane->run->model, block, &fault)) {
        report(lane, fault.text);
    }
}

static void dismiss(struct lane *lane, const struct shadow_block *block)
{
    struct shadow_fault fault;
    if (!shadow_erase(lane->run->model, block, &fault)) {
        report(lane, fault.text);
    }
}

static void require_zero(struct lane *lane, const struct shadow_block *block, size_t offset)
{
    struct shadow_fault fault;
    if (!shadow_check_zero(block, offset, &fault)) {
        report(lane, fault.text);
    }
}

// What the allocator returned, as a block of the model.
static struct shadow_block describe(struct lane *lane, void *address, size_t bytes,
                                    size_t align_bytes)
{
    if (address == NULL) {
        report(lane, "the allocator returned NULL");
    }
    return (struct shadow_block){.address = address,
                                 .bytes = bytes,
                                 .usable_bytes = stress_usable_size(address),
                                 .align_bytes = align_bytes,
                                 .seed = random_next(&lane->random)};
}

static size_t draw_alignment(struct random_stream *random)
{
    size_t shift = random_below(random, 100) < 90 ? 3 + random_below(random, 10)
                                                  : 3 + random_below(random, 19);
    return (size_t)1 << shift;
}

static struct shadow_block make_aligned(struct lane *lane, size_t bytes)
{
    size_t align_bytes = draw_alignment(&lane->random);
    enum aligned_kind kind = (enum aligned_kind)random_below(&lane->random, ALIGNED_KIND_COUNT);
    bytes += kind == ALIGNED_PVALLOC && bytes == 0;
    begin_op(lane, "aligned", bytes);
    void *address = stress_aligned(kind, &align_bytes, bytes);
    if (kind == ALIGNED_PVALLOC) {  // whole pages are its size, which a sized free must name
        bytes = (bytes + align_bytes - 1) / align_bytes * align_bytes;
    }
    return describe(lane, address, bytes, align_bytes < 16 ? 16 : align_bytes);
}

static struct shadow_block make_zeroed(struct lane *lane, size_t bytes)
{
    size_t count = 1 + random_below(&lane->random, 16);
    begin_op(lane, "calloc", bytes);
    bytes = (bytes / count) * count;
    struct shadow_block block = describe(lane, stress_calloc(count, bytes / count), bytes, 16);
    require_zero(lane, &block, 0);
    return block;
}

static void make_block(struct lane *lane, struct shadow_block *slot)
{
    size_t kind = random_below(&lane->random, 100);
    size_t bytes = draw_size(&lane->random);
    if (kind < 15) {
        *slot = make_zeroed(lane, bytes);
    } else if (kind < 25) {
        *slot = make_aligned(lane, bytes);
    } else if (kind < 30) {
        begin_op(lane, "realloc of NULL", bytes);
        *slot = describe(lane, stress_realloc(NULL, bytes), bytes, 16);
    } else if (kind < 33) {
        begin_op(lane, "reallocarray of NULL", bytes & ~(size_t)7);
        *slot = describe(lane, stress_reallocarray(NULL, bytes / 8, 8), bytes & ~(size_t)7, 16);
    } else {
        begin_op(lane, "malloc", bytes);
        *slot = describe(lane, stress_malloc(bytes), bytes, 16);
    }
    admit(lane, slot);
}

static void free_block(struct lane *lane, struct shadow_block *slot)
{
    begin_op(lane, "free", slot->bytes);
    dismiss(lane, slot);
    if ((slot->seed & 7) == 0) {
        stress_free_sized(slot->address, slot->bytes);
    } else {
        stress_free(slot->address);
    }
    slot->address = NULL;
}

// Near the old size, or anywhere.
static size_t draw_new_size(struct random_stream *random, size_t old_bytes)
{
    size_t bytes = draw_size(random);
    size_t kind = random_below(random, 4);
    if (kind == 0 && old_bytes < 4 << 20) {
        bytes = old_bytes + old_bytes / 2 + 1;
    } else if (kind == 1) {
        bytes = old_bytes - old_bytes / 3;
    } else if (kind == 2) {
        bytes = old_bytes + random_below(random, 33);
    }
    return bytes == 0 ? 1 : bytes;  // realloc to 0 frees
}

static void resize_block(struct lane *lane, struct shadow_block *slot, struct random_stream *random)
{
    struct shadow_fault fault;
    struct shadow_block old = *slot;
    size_t bytes = draw_new_size(random, old.bytes);
    bool is_zeroing = random_below(random, 4) == 0 && stress_rezalloc != NULL;
    begin_op(lane, is_zeroing ? "rezalloc" : "realloc", bytes);
    dismiss(lane, &old);
    void *address = is_zeroing ? stress_rezalloc(old.address, old.bytes, bytes)
                               : stress_realloc(old.address, bytes);
    if (address == NULL) {
        report(lane, "realloc returned NULL");
    }
    *slot = (struct shadow_block){.address = address,
                                  .bytes = bytes,
                                  .usable_bytes = stress_usable_size(address),
                                  .align_bytes = 16,
                                  .seed = old.seed};
    size_t kept_bytes = old.bytes < bytes ? old.bytes : bytes;
    if (!shadow_check_moved(&old, address, kept_bytes, &fault)) {
        report(lane, fault.text);
    }
    if (is_zeroing) {
        require_zero(lane, slot, old.bytes);
    }
    admit(lane, slot);
}

static void check_block(struct lane *lane, struct shadow_block *slot)
{
    struct shadow_fault fault;
    begin_op(lane, "check", slot->bytes);
    if (!shadow_check(slot, &fault)) {
        report(lane, fault.text);
    }
    if (stress_usable_size(slot->address) != slot->usable_bytes) {
        report(lane, "the usable size of a live block changed");
    }
}

// ---- Between lanes ------------------------------------------------------------------------------

// The slot is empty afterwards in any case: a full ring must not change what the lane does next.
static void send_block(struct lane *lane, struct shadow_block *slot)
{
    struct stress_run *run = lane->run;
    size_t target = random_below(&lane->random, run->lane_count);
    struct lane_ring *ring = &run->rings[lane->index][target];
    size_t sent = atomic_load_explicit(&ring->sent_count, memory_order_relaxed);
    // Pairs with the release in receive_blocks.
    size_t received = atomic_load_explicit(&ring->received_count, memory_order_acquire);
    begin_op(lane, "send", slot->bytes);
    if (sent - received == RING_SLOT_COUNT || target == lane->index) {
        free_block(lane, slot);
        return;
    }
    ring->blocks[sent % RING_SLOT_COUNT] = *slot;
    slot->address = NULL;
    // Pairs with the acquire in receive_blocks.
    atomic_store_explicit(&ring->sent_count, sent + 1, memory_order_release);
}

// What happens to a received block depends on the block, so that the lane's own sequence does not
// depend on when it came.
static void use_up(struct lane *lane, struct shadow_block *block)
{
    struct random_stream random = {.state = block->seed};
    size_t kind = random_below(&random, 8);
    if (kind == 0) {
        resize_block(lane, block, &random);
    } else if (kind == 1) {
        check_block(lane, block);
    }
    free_block(lane, block);
}

static void receive_blocks(struct lane *lane, size_t most)
{
    struct stress_run *run = lane->run;
    for (size_t from = 0; from < run->lane_count; from++) {
        struct lane_ring *ring = &run->rings[from][lane->index];
        size_t received = atomic_load_explicit(&ring->received_count, memory_order_relaxed);
        // Pairs with the release in send_block.
        size_t sent = atomic_load_explicit(&ring->sent_count, memory_order_acquire);
        for (size_t i = 0; received != sent && i < most; i++) {
            struct shadow_block block = ring->blocks[received % RING_SLOT_COUNT];
            received++;
            // Pairs with the acquire in send_block.
            atomic_store_explicit(&ring->received_count, received, memory_order_release);
            use_up(lane, &block);
        }
    }
}

// ---- Operations ---------------------------------------------------------------------------------

static void shuffle(struct random_stream *random, void **addresses, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        size_t other = random_below(random, left);
        void *last = addresses[left - 1];
        addresses[left - 1] = addresses[other];
        addresses[other] = last;
    }
}

// Many blocks of one size at once, freed in another order: bins run empty and overflow.
static void churn_batch(struct lane *lane)
{
    struct shadow_block blocks[BATCH_MOST];
    void *addresses[BATCH_MOST];
    size_t count = 1 + random_below(&lane->random, BATCH_MOST);
    size_t bytes = random_below(&lane->random, random_below(&lane->random, 8) == 0 ? 9000 : 600);
    begin_op(lane, "batch", bytes);
    if (stress_batch_alloc(bytes, addresses, count) != count) {
        report(lane, "the batch came back short");
    }
    for (size_t i = 0; i < count; i++) {
        blocks[i] = describe(lane, addresses[i], bytes, 16);
        admit(lane, &blocks[i]);
    }
    for (size_t i = 0; i < count; i++) {
        dismiss(lane, &blocks[i]);
    }
    shuffle(&lane->random, addresses, count);
    stress_batch_free(addresses, count / 2);
    for (size_t i = count / 2; i < count; i++) {
        stress_free(addresses[i]);
    }
}

static void do_rare_op(struct lane *lane)
{
    size_t kind = random_below(&lane->random, 64);
    if (kind == 0) {
        begin_op(lane, "trim", 0);
        stress_trim();
    } else if (kind < 6) {
        begin_op(lane, "thread flush", 0);
        stress_thread_flush();
    } else if (kind < 8) {
        begin_op(lane, "free of NULL", 0);
        stress_free(NULL);
    } else if (kind < 24) {
        receive_blocks(lane, RECEIVE_MOST);
    } else {
        churn_batch(lane);
    }
}

static void do_op(struct lane *lane)
{
    size_t kind = random_below(&lane->random, 1024);
    struct shadow_block *slot = &lane->slots[random_below(&lane->random, LANE_SLOT_COUNT)];
    if (kind < 16) {
        do_rare_op(lane);
    } else if (slot->address == NULL) {
        make_block(lane, slot);
    } else if (kind < 500) {
        free_block(lane, slot);
    } else if (kind < 700) {
        resize_block(lane, slot, &lane->random);
    } else if (kind < 850) {
        send_block(lane, slot);
    } else {
        check_block(lane, slot);
    }
    lane->op_number++;
    if (lane->op_number % 256 == 0) {
        receive_blocks(lane, RECEIVE_MOST);
    }
}

// ---- Threads ------------------------------------------------------------------------------------

// Runs while the thread ends, perhaps after the allocator's own destructor: frees blocks of the lane
// and makes some for the successor.
static void leave_thread(void *argument)
{
    struct lane *lane = argument;
    for (size_t i = 0; i < DESTRUCTOR_BLOCK_COUNT; i++) {
        struct shadow_block *slot = &lane->slots[i];
        if (slot->address != NULL) {
            free_block(lane, slot);
        } else {
            make_block(lane, slot);
        }
    }
}

static void create_exit_key(void)
{
    (void)pthread_key_create(&exit_key, leave_thread);
}

static void *run_generation(void *argument)
{
    struct lane *lane = argument;
    struct stress_run *run = lane->run;
    if (lane->has_predecessor) {
        (void)pthread_join(lane->thread, NULL);
    }
    lane->thread = pthread_self();
    lane->has_predecessor = true;
    (void)pthread_setspecific(exit_key, lane);
    uint64_t length = GENERATION_LEAST + random_below(&lane->random, GENERATION_SPREAD);
    uint64_t end = lane->op_number + length;
    end = end < run->op_limit ? end : run->op_limit;
    while (lane->op_number < end && !atomic_load_explicit(&run->stop, memory_order_relaxed)) {
        do_op(lane);
    }
    if (lane->op_number == run->op_limit ||
        atomic_load_explicit(&run->stop, memory_order_relaxed)) {
        // Pairs with the acquire load in stress_test.c.
        (void)atomic_fetch_add_explicit(&run->ended_count, 1, memory_order_release);
        return NULL;
    }
    // The successor joins this thread first, so it never meets the destructor at work.
    pthread_t successor;
    if (pthread_create(&successor, NULL, run_generation, lane) != 0) {
        report(lane, "pthread_create failed");
    }
    return NULL;
}

void lane_start(struct lane *lane)
{
    pthread_t thread;
    (void)pthread_once(&exit_key_once, create_exit_key);
    lane->random.state = lane->run->seed * 0x2545F4914F6CDD1Du + lane->index;
    if (pthread_create(&thread, NULL, run_generation, lane) != 0) {
        report(lane, "pthread_create failed");
    }
}

void lane_join(struct lane *lane)
{
    (void)pthread_join(lane->thread, NULL);
}

void lane_drain(struct lane *lane)
{
    receive_blocks(lane, RING_SLOT_COUNT);
    for (size_t i = 0; i < LANE_SLOT_COUNT; i++) {
        if (lane->slots[i].address != NULL) {
            free_block(lane, &lane->slots[i]);
        }
    }
}
