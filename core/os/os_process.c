// SPDX-License-Identifier: MIT
#include "os/os_process.h"

#include "base/text.h"
#include "os/os_thread.h"
#include "os/syscall.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SENTENCE_BYTES = 256,
    STANDARD_ERROR = 2,
    OWNER_ONLY = 0600,
};

// Written with the same value by whoever comes first; 0: not yet.
static _Atomic uint64_t random_seed;

bool os_is_secure_execution(void)
{
    return getauxval(AT_SECURE) != 0;
}

char *const *os_environment(void)
{
    return environ;
}

uint64_t os_random_seed(void)
{
    uint64_t seed = atomic_load_explicit(&random_seed, memory_order_relaxed);
    if (unlikely(seed == 0)) {
        const void *random = (const void *)getauxval(AT_RANDOM);
        if (random != NULL) {
            memcpy(&seed, random, sizeof seed);
        }
        atomic_store_explicit(&random_seed, seed, memory_order_relaxed);
    }
    return seed;
}

int os_process_id(void)
{
    return (int)os_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

void os_write_error(const char *text, size_t bytes)
{
    (void)os_syscall(SYS_write, STANDARD_ERROR, (long)text, (long)bytes, 0, 0, 0);
}

int os_append_file(const char *path, const char *text, size_t bytes)
{
    long file = os_syscall(SYS_openat, AT_FDCWD, (long)path,
                           O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, OWNER_ONLY, 0, 0);
    if (file < 0) {
        return (int)-file;
    }
    long written = os_syscall(SYS_write, file, (long)text, (long)bytes, 0, 0, 0);
    os_syscall(SYS_close, file, 0, 0, 0, 0, 0);
    return written < 0 ? (int)-written : 0;
}

long os_read_file(const char *path, char *text, size_t capacity)
{
    long file = os_syscall(SYS_openat, AT_FDCWD, (long)path,
                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
    if (file < 0) {
        return -1;
    }
    long length = os_syscall(SYS_read, file, (long)text, (long)capacity, 0, 0, 0);
    os_syscall(SYS_close, file, 0, 0, 0, 0, 0);
    return length < 0 ? -1 : length;
}

// Threads that meet the same damage at the same time would say a line each: the first one does.
static struct {
    _Atomic uintptr_t thread;  // 0: nobody has come to die
    _Atomic bool is_said;      // release; pairs with the acquire in say_once
} last_words;

static void say_once(const char *line, size_t bytes)
{
    enum {
        TURNS_MOST = 1000
    };  // who speaks may have been stopped
    uintptr_t self = os_thread_self();
    uintptr_t speaker = 0;
    if (atomic_compare_exchange_strong_explicit(&last_words.thread, &speaker, self,
                                                memory_order_relaxed, memory_order_relaxed) ||
        speaker == self) {
        os_write_error(line, bytes);
        atomic_store_explicit(&last_words.is_said, true, memory_order_release);
        return;
    }
    for (int turn = 0; turn < TURNS_MOST; turn++) {
        if (atomic_load_explicit(&last_words.is_said, memory_order_acquire)) {
            return;
        }
        os_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    }
}

static _Noreturn void say_and_abort(struct text *text)
{
    text_add(text, "\n");
    size_t length = text->length < text->capacity ? text->length : text->capacity - 1;
    say_once(text->data, length);
    abort();
}

void die(const char *sentence)
{
    char buffer[SENTENCE_BYTES];
    struct text text = text_start(buffer, sizeof buffer);
    text_add(&text, "hakmem: ");
    text_add(&text, sentence);
    say_and_abort(&text);
}

static void add_block_size(struct text *text, size_t block_bytes)
{
    text_add(text, ", a ");
    text_add_uint(text, block_bytes);
    text_add(text, "-byte block");
}

static void add_fault(struct text *text, const char *fault, const void *pointer)
{
    text_add(text, "hakmem: ");
    text_add(text, fault);
    text_add(text, " of ");
    text_add_hex(text, (uintptr_t)pointer);
}

void die_misuse(const char *fault, const void *pointer, size_t block_bytes)
{
    char buffer[SENTENCE_BYTES];
    struct text text = text_start(buffer, sizeof buffer);
    add_fault(&text, fault, pointer);
    if (block_bytes == 0) {
        text_add(&text, ", which is not a block");
    } else {
        add_block_size(&text, block_bytes);
    }
    say_and_abort(&text);
}

void die_wrong_size(const void *pointer, size_t given_bytes, size_t block_bytes)
{
    char buffer[SENTENCE_BYTES];
    char fault[64];
    struct text text = text_start(buffer, sizeof buffer);
    struct text given = text_start(fault, sizeof fault);
    text_add(&given, "free with size ");
    text_add_uint(&given, given_bytes);
    add_fault(&text, fault, pointer);
    add_block_size(&text, block_bytes);
    say_and_abort(&text);
}

void die_wrong_kind(const char *free_name, const void *pointer, size_t block_bytes,
                    const char *take_name)
{
    char buffer[SENTENCE_BYTES];
    struct text text = text_start(buffer, sizeof buffer);
    add_fault(&text, free_name, pointer);
    add_block_size(&text, block_bytes);
    text_add(&text, ", from ");
    text_add(&text, take_name);
    say_and_abort(&text);
}

void die_damaged(const void *block, size_t block_bytes)
{
    char buffer[SENTENCE_BYTES];
    struct text text = text_start(buffer, sizeof buffer);
    text_add(&text, "hakmem: free block ");
    text_add_hex(&text, (uintptr_t)block);
    text_add(&text, " was written after it was freed");
    add_block_size(&text, block_bytes);
    say_and_abort(&text);
}
