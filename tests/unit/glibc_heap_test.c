// Which pointers are proved to be glibc's.  malloc may be a sanitizer's here, so glibc's is asked of the
// loader.
// SPDX-License-Identifier: MIT
#include "backend/glibc_heap.h"
#include "hakmem.h"
#include "os/os_memory.h"
#include "unit_check.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BYTES_MOST = 6 << 20,
    THREAD_COUNT = 8,
    KEPT_COUNT = 200,
    FOREIGN_BYTES = 128 << 10,
};

static const struct glibc_figures none = {0, 0};

static struct {
    struct glibc_calls calls;
    void *(*malloc)(size_t bytes);
    void *(*memalign)(size_t alignment, size_t bytes);
    struct mallinfo2 (*mallinfo2)(void);
    const struct glibc_figures *told;  // instead of glibc's figures
} glibc;

static void read_figures(struct glibc_figures *figures)
{
    struct mallinfo2 info = glibc.mallinfo2();
    *figures = (struct glibc_figures){.arena_bytes = info.arena, .mapped_bytes = info.hblkhd};
    if (glibc.told != NULL) {
        *figures = *glibc.told;
    }
}

static int note_image(struct dl_phdr_info *object, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    uintptr_t end = 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_LOAD) {
            end = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr + object->dlpi_phdr[i].p_memsz;
        }
    }
    glibc.calls.image_start = object->dlpi_addr;
    glibc.calls.image_end = end;
    return (uintptr_t)glibc.malloc >= object->dlpi_addr && (uintptr_t)glibc.malloc < end;
}

static int find_glibc(void **state)
{
    (void)state;
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(libc);
    *(void **)&glibc.malloc = dlsym(libc, "malloc");
    *(void **)&glibc.memalign = dlsym(libc, "memalign");
    *(void **)&glibc.mallinfo2 = dlsym(libc, "mallinfo2");
    *(void **)&glibc.calls.free = dlsym(libc, "free");
    assert_true(glibc.malloc && glibc.memalign && glibc.mallinfo2 && glibc.calls.free);
    glibc.calls.read_figures = read_figures;
    assert_int_not_equal(dl_iterate_phdr(note_image, NULL), 0);
    glibc_heap_found(&glibc.calls);
    return 0;
}

static void is_proved(void *block, size_t bytes)
{
    assert_non_null(block);
    memset(block, 1, bytes);
    size_t usable_bytes = glibc_heap_usable_bytes(block);
    assert_true(usable_bytes >= bytes);
    memset(block, 2, usable_bytes);
}

static void free_whole(void *block, size_t bytes)
{
    is_proved(block, bytes);
    assert_true(glibc_heap_give(block));
}

// Sizes in brk's memory and with mappings of their own, and what memalign cuts out of both.
static void blocks_are_proved_and_freed(void *argument)
{
    (void)argument;
    void *kept[KEPT_COUNT];
    for (size_t bytes = 0; bytes < BYTES_MOST; bytes = bytes * 2 + 13) {
        free_whole(glibc.malloc(bytes), bytes);
        free_whole(glibc.memalign(64, bytes), bytes);
        free_whole(glibc.memalign(4096, bytes), bytes);
        free_whole(glibc.memalign(1 << 20, bytes), bytes);
    }
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        kept[i] = glibc.malloc(i * 97);
    }
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        free_whole(kept[i], i * 97);
    }
}

static void every_block_of_glibc_is_proved(void **state)
{
    (void)state;
    blocks_are_proved_and_freed(NULL);
}

static void so_is_every_block_of_its_other_arenas(void **state)
{
    (void)state;
    run_in_threads(blocks_are_proved_and_freed, NULL, 0, THREAD_COUNT);
}

static void nothing_inside_a_block_is(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 5000, 300 << 10};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *block = glibc.malloc(sizes[i]);
        memset(block, 0, sizes[i]);
        for (size_t offset = 8; offset < sizes[i]; offset += 8) {
            assert_int_equal(glibc_heap_usable_bytes(block + offset), 0);
        }
        memset(block, 0xff, sizes[i]);
        for (size_t offset = 8; offset < sizes[i]; offset += 16) {
            assert_int_equal(glibc_heap_usable_bytes(block + offset + 8), 0);
        }
        glibc.calls.free(block);
    }
}

static void a_block_that_was_unmapped_is_not(void **state)
{
    (void)state;
    char *block = glibc.malloc(BYTES_MOST);
    glibc.calls.free(block);
    assert_int_equal(glibc_heap_usable_bytes(block), 0);
}

static void our_own_blocks_are_not(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes < BYTES_MOST; bytes *= 3) {
        char *block = hak_malloc(bytes);
        assert_int_equal(glibc_heap_usable_bytes(block), 0);
        hak_free(block);
        assert_int_equal(glibc_heap_usable_bytes(block), 0);
    }
}

// Words that could be a chunk's header, wherever the program may have written them.
static void write_headers(char *memory, size_t bytes, size_t size_and_flags)
{
    for (size_t offset = 0; offset + 16 <= bytes; offset += 16) {
        size_t header[2] = {0, size_and_flags};
        memcpy(memory + offset, header, sizeof header);
    }
}

static void is_proved_nowhere(const char *memory, size_t bytes)
{
    for (size_t offset = 16; offset < bytes; offset += 16) {
        assert_int_equal(glibc_heap_usable_bytes(memory + offset), 0);
    }
}

static void imitated_headers_are_not(void **state)
{
    (void)state;
    static _Alignas(16) char variable[4096];
    _Alignas(16) char local[4096];
    char *mapping =
        mmap(NULL, FOREIGN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(mapping != MAP_FAILED);
    // Of the main arena, of another, of a mapping that isn't whole pages.
    static const size_t headers[] = {33, 48,     4097,     65,     32 + 5,
                                     36, 64 + 5, 4096 + 4, 48 + 2, 64 + 3};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        write_headers(variable, sizeof variable, headers[i]);
        is_proved_nowhere(variable, sizeof variable);
        write_headers(local, sizeof local, headers[i]);
        is_proved_nowhere(local, sizeof local);
        write_headers(mapping, FOREIGN_BYTES, headers[i]);
        is_proved_nowhere(mapping, FOREIGN_BYTES);
    }
    (void)munmap(mapping, FOREIGN_BYTES);
}

// glibc says how much it has mapped, and that is too little for what is imitated.
static void an_imitated_mapping_is_not(void **state)
{
    (void)state;
    char *mapping = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(mapping != MAP_FAILED);
    write_headers(mapping, 4096, (64 << 20) + 2);
    is_proved_nowhere(mapping, 4096);
    (void)munmap(mapping, 64 << 20);
}

// A heap of 64 MiB that leads to itself, but not on to libc.
static void an_imitated_arena_is_not(void **state)
{
    (void)state;
    char *mapping = mmap(NULL, 128 << 20, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(mapping != MAP_FAILED);
    char *heap = (char *)(((uintptr_t)mapping + (64 << 20) - 1) & ~(((uintptr_t)64 << 20) - 1));
    uintptr_t arena = (uintptr_t)heap + 48;
    size_t bytes = 1 << 20;
    write_headers(heap + 4096, bytes - 4096, 64 + 5);
    memcpy(heap, &arena, sizeof arena);
    memcpy(heap + 16, &bytes, sizeof bytes);
    memcpy(heap + 48 + 2160, &arena, sizeof arena);
    is_proved_nowhere(heap + 4096, 4096);
    (void)munmap(mapping, 128 << 20);
}

static void nothing_is_where_glibc_holds_nothing(void **state)
{
    (void)state;
    char *small = glibc.malloc(hidden(100));
    char *mapped = glibc.malloc(hidden(BYTES_MOST));
    glibc.told = &none;
    assert_int_equal(glibc_heap_usable_bytes(small), 0);
    assert_false(glibc_heap_give(small));
    assert_int_equal(glibc_heap_usable_bytes(mapped), 0);
    glibc.told = NULL;
    is_proved(small, 100);
    free_whole(mapped, BYTES_MOST);
    glibc.calls.free(small);
}

static void wild_pointers_are_not_followed(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++) {
        uintptr_t address = ((uintptr_t)1 << shift) & ~(uintptr_t)15;
        assert_int_equal(glibc_heap_usable_bytes((void *)address), 0);
        assert_int_equal(glibc_heap_usable_bytes((void *)~address), 0);
    }
    assert_int_equal(glibc_heap_usable_bytes((void *)(os_break() + 16)), 0);
}

static void without_glibc_nothing_is(void **state)
{
    (void)state;
    char *block = glibc.malloc(hidden(100));
    glibc_heap_found(NULL);
    assert_int_equal(glibc_heap_usable_bytes(block), 0);
    assert_false(glibc_heap_give(block));
    glibc_heap_found(&glibc.calls);
    glibc.calls.free(block);
}

int main(void)
{
    // In this order: once glibc is known to have arenas it isn't asked again.
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_where_glibc_holds_nothing),
        cmocka_unit_test(every_block_of_glibc_is_proved),
        cmocka_unit_test(so_is_every_block_of_its_other_arenas),
        cmocka_unit_test(nothing_inside_a_block_is),
        cmocka_unit_test(a_block_that_was_unmapped_is_not),
        cmocka_unit_test(our_own_blocks_are_not),
        cmocka_unit_test(imitated_headers_are_not),
        cmocka_unit_test(an_imitated_mapping_is_not),
        cmocka_unit_test(an_imitated_arena_is_not),
        cmocka_unit_test(wild_pointers_are_not_followed),
        cmocka_unit_test(without_glibc_nothing_is),
    };
    return cmocka_run_group_tests(tests, find_glibc, NULL);
}
