// Calls of the prefixed API chosen by the fuzzer, checked by the shadow model of the stress test.  They
// are made by two threads in turns, one of which comes and goes, over the threads' heaps and a first-class
// one, while the routes of the classes change.
// SPDX-License-Identifier: MIT
#include "hakmem.h"
#include "shadow_model.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SLOT_COUNT = 64,
    MOST_BYTES = 1 << 20,
    OPERATION_BYTES = 4,  // input bytes that one operation takes
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct {
    struct shadow_model *model;
    struct shadow_block slots[SLOT_COUNT];
    uint64_t seed;
    struct hak_heap *heap;
} fuzz;

// One operation of the input: which slot, what, and how much.
struct operation {
    struct shadow_block *slot;
    unsigned verb;
    unsigned kind;
    size_t bytes;
};

// The other thread does one operation at a time, while the first one waits.
static struct {
    pthread_t thread;
    sem_t asked;
    sem_t done;
    const struct operation *operation;  // NULL: end
    bool is_running;
} other;

static void require(bool condition, const struct shadow_fault *fault)
{
    if (!condition) {
        (void)fprintf(stderr, "%s\n", fault->text);
        abort();
    }
}

// From an input word to a size: every size class has its share, and the large blocks theirs.
static size_t size_of(uint16_t word)
{
    size_t size = (size_t)(word & 0x3FF) << (word >> 10) / 5;
    return size < MOST_BYTES ? size : MOST_BYTES;
}

static void put(struct shadow_block *slot, void *address, size_t bytes, size_t align_bytes)
{
    struct shadow_fault fault;
    if (address == NULL) {
        *slot = (struct shadow_block){.address = NULL};
        return;
    }
    *slot = (struct shadow_block){.address = address,
                                  .bytes = bytes,
                                  .usable_bytes = hak_usable_size(address),
                                  .align_bytes = align_bytes,
                                  .seed = ++fuzz.seed};
    require(shadow_insert(fuzz.model, slot, &fault), &fault);
}

static void drop(struct shadow_block *slot, unsigned kind)
{
    struct shadow_fault fault;
    if (slot->address == NULL) {
        return;
    }
    require(shadow_erase(fuzz.model, slot, &fault), &fault);
    switch (kind & 3) {
    case 0:
        hak_free_sized(slot->address, slot->bytes);
        break;
    case 1: {
        void *one[] = {NULL, slot->address};
        hak_batch_free(one, 2);
        break;
    }
    default:
        hak_free(slot->address);
    }
    slot->address = NULL;
}

static void put_zeroed(struct shadow_block *slot, void *address, size_t bytes)
{
    struct shadow_fault fault;
    struct shadow_block zeroed = {.address = address, .bytes = bytes, .align_bytes = 16};
    zeroed.usable_bytes = hak_usable_size(address);
    require(address == NULL || shadow_check_zero(&zeroed, 0, &fault), &fault);
    put(slot, address, bytes, 16);
}

static void make(struct shadow_block *slot, unsigned kind, size_t bytes)
{
    size_t align_bytes = (size_t)16 << (kind & 15);
    void *block = NULL;
    drop(slot, kind);
    switch (kind >> 4 & 7) {
    case 0:
        put(slot, hak_aligned_alloc(align_bytes, bytes), bytes, align_bytes);
        break;
    case 1:
        put_zeroed(slot, hak_calloc(1, bytes), bytes);
        break;
    case 2:
        if (hak_posix_memalign(&block, align_bytes, bytes) == 0) {
            put(slot, block, bytes, align_bytes);
        }
        break;
    case 3:
        put(slot, hak_batch_alloc(bytes, &block, 1) == 1 ? block : NULL, bytes, 16);
        break;
    case 4:
        put(slot, hak_heap_malloc(fuzz.heap, bytes), bytes, 16);
        break;
    case 5:
        put_zeroed(slot, hak_heap_calloc(fuzz.heap, 1, bytes), bytes);
        break;
    default:
        put(slot, hak_malloc(bytes), bytes, 16);
    }
}

static void resize(struct shadow_block *slot, size_t bytes)
{
    struct shadow_fault fault;
    struct shadow_block old = *slot;
    if (old.address == NULL || bytes == 0) {
        drop(slot, 0);
        return;
    }
    require(shadow_erase(fuzz.model, &old, &fault), &fault);
    void *moved = hak_realloc(old.address, bytes);
    if (moved == NULL) {
        require(shadow_restore(fuzz.model, &old, &fault), &fault);
        return;
    }
    size_t kept_bytes = old.usable_bytes < bytes ? old.usable_bytes : bytes;
    require(shadow_check_moved(&old, moved, kept_bytes, &fault), &fault);
    put(slot, moved, bytes, 16);
}

// Of each route at most one switch and one mask change at a time.
static void change_routes(unsigned kind)
{
    static const char *const switches[] = {"HAKMEM_TINY_C7_ULTRA_ENABLED",
                                           "HAKMEM_TINY_C6_ULTRA_ENABLED",
                                           "HAKMEM_SMALL_HEAP_V7_ENABLED", "HAKMEM_MID_V3_ENABLED"};
    static const char *const masks[] = {"HAKMEM_SMALL_HEAP_V7_CLASSES", "HAKMEM_MID_V3_CLASSES"};
    char mask[8];
    (void)snprintf(mask, sizeof mask, "0x%x", kind);
    if (hak_ctl_set(switches[kind & 3], kind & 4 ? "on" : "off") != 0 ||
        hak_ctl_set(masks[kind >> 3 & 1], mask) != 0) {
        abort();
    }
}

static void rare(unsigned kind)
{
    switch (kind & 3) {
    case 0:
        (void)hak_trim((size_t)kind << 12);
        break;
    case 1:
        hak_thread_flush();
        break;
    default:
        change_routes(kind >> 2);
    }
}

static void perform(const struct operation *operation)
{
    switch (operation->verb) {
    case 0:
        resize(operation->slot, operation->bytes);
        break;
    case 1:
        drop(operation->slot, operation->kind);
        break;
    default:
        make(operation->slot, operation->kind, operation->bytes);
    }
}

static void *run_other(void *unused)
{
    (void)unused;
    for (;;) {
        (void)sem_wait(&other.asked);
        if (other.operation == NULL) {
            return NULL;
        }
        perform(other.operation);
        (void)sem_post(&other.done);
    }
}

static void end_other(void)
{
    if (other.is_running) {
        other.operation = NULL;
        (void)sem_post(&other.asked);
        (void)pthread_join(other.thread, NULL);
        other.is_running = false;
    }
}

static void perform_in_other(const struct operation *operation)
{
    if (!other.is_running) {
        (void)sem_init(&other.asked, 0, 0);
        (void)sem_init(&other.done, 0, 0);
        if (pthread_create(&other.thread, NULL, run_other, NULL) != 0) {
            return;
        }
        other.is_running = true;
    }
    other.operation = operation;
    (void)sem_post(&other.asked);
    (void)sem_wait(&other.done);
}

static void start(void)
{
    if (fuzz.model == NULL) {
        fuzz.model = shadow_model_create();
    }
    fuzz.heap = hak_heap_create();
    if (fuzz.heap == NULL) {
        abort();
    }
}

// The first byte says how the routes stand at first; each four bytes that follow are an operation.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct shadow_fault fault;
    if (bytes == 0) {
        return 0;
    }
    start();
    change_routes(data[0]);
    for (size_t at = 1; at + OPERATION_BYTES <= bytes; at += OPERATION_BYTES) {
        struct operation operation = {.slot = &fuzz.slots[data[at] % SLOT_COUNT],
                                      .verb = data[at] / SLOT_COUNT,
                                      .kind = data[at + 1],
                                      .bytes =
                                          size_of((uint16_t)(data[at + 2] | data[at + 3] << 8))};
        if (operation.kind == UINT8_MAX) {
            rare(data[at + 2]);
        } else if (operation.kind == UINT8_MAX - 1) {
            end_other();
        } else if (operation.kind & 128) {
            perform_in_other(&operation);
        } else {
            perform(&operation);
        }
    }
    for (size_t i = 0; i < SLOT_COUNT; i++) {
        if (fuzz.slots[i].address != NULL) {
            require(shadow_check(&fuzz.slots[i], &fault), &fault);
        }
        drop(&fuzz.slots[i], (unsigned)i);
    }
    end_other();
    hak_heap_destroy(fuzz.heap);
    return 0;
}
