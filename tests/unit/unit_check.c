// SPDX-License-Identifier: MIT
#include "unit_check.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SAID_BYTES = 512,
    LINE_BYTES = 256,
    THREAD_COUNT_MOST = 16,
    DEATH_SECONDS = 20,
};

int skip_program(const char *why)
{
    enum {
        SKIPPED = 77
    };
    print_message("skipped: %s\n", why);
    return SKIPPED;
}

// cmocka and sanitizers catch signals; the child is to die of them, without a core file.
static void die_plainly(void)
{
    const struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)signal(SIGABRT, SIG_DFL);
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    (void)alarm(DEATH_SECONDS);
}

// An emulator adds a line of its own when the emulated program dies of a signal.
static void drop_emulators_line(char *said)
{
    char *line = strstr(said, "qemu: uncaught target signal");
    if (line != NULL) {
        *line = '\0';
    }
}

// Runs body in a child; what it wrote to standard error goes to said, its wait status is returned.
static int run_child(unit_body *body, void *argument, char said[SAID_BYTES])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        die_plainly();
        (void)dup2(ends[1], STDERR_FILENO);
        body(argument);
        _exit(0);
    }
    (void)close(ends[1]);
    size_t length = 0;
    ssize_t got = 0;
    while (length < SAID_BYTES - 1 &&
           (got = read(ends[0], said + length, SAID_BYTES - 1 - length)) > 0) {
        length += (size_t)got;
    }
    said[length] = '\0';
    drop_emulators_line(said);
    (void)close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

void assert_dies(unit_body *body, void *argument, const char *line)
{
    char said[SAID_BYTES];
    char expected[LINE_BYTES + 1];  // and the line break
    int status = run_child(body, argument, said);
    (void)snprintf(expected, sizeof expected, "%s\n", line);
    assert_string_equal(said, expected);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

void assert_dies_of(const char *fault, const void *pointer, size_t block_bytes, unit_body *body,
                    void *argument)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "hakmem: %s of %p, ", fault, pointer);
    if (block_bytes == 0) {
        (void)snprintf(line + length, sizeof line - (size_t)length, "which is not a block");
    } else {
        (void)snprintf(line + length, sizeof line - (size_t)length, "a %zu-byte block",
                       block_bytes);
    }
    assert_dies(body, argument, line);
}

void assert_dies_damaged(const void *block, size_t block_bytes, unit_body *body, void *argument)
{
    char line[LINE_BYTES];
    (void)snprintf(line, sizeof line,
                   "hakmem: free block %p was written after it was freed, a %zu-byte block", block,
                   block_bytes);
    assert_dies(body, argument, line);
}

static void write_byte(void *address)
{
    *(volatile char *)address = 1;
}

static void read_byte(void *address)
{
    (void)*(volatile char *)address;
}

void assert_faults(char *address)
{
    static unit_body *const bodies[] = {write_byte, read_byte};
    for (size_t i = 0; i < 2; i++) {
        char said[SAID_BYTES];
        int status = run_child(bodies[i], address, said);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGSEGV);
    }
}

bool is_emulated(void)
{
    char name[LINE_BYTES] = "";
    FILE *comm = fopen("/proc/self/comm", "r");
    assert_non_null(comm);
    assert_non_null(fgets(name, sizeof name, comm));
    (void)fclose(comm);
    return strncmp(name, "qemu-", 5) == 0;
}

bool is_mapped(const void *address)
{
    // msync tells unmapped pages by ENOMEM and does nothing to mapped ones.
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    return msync((void *)((uintptr_t)address & ~(page_bytes - 1)), page_bytes, MS_ASYNC) == 0;
}

struct thread_job {
    unit_body *body;
    void *argument;
};

static void *run_job(void *argument)
{
    struct thread_job *job = argument;
    job->body(job->argument);
    return NULL;
}

void run_in_threads(unit_body *body, void *argument, size_t step_bytes, size_t count)
{
    pthread_t threads[THREAD_COUNT_MOST];
    struct thread_job jobs[THREAD_COUNT_MOST];
    assert_true(count <= THREAD_COUNT_MOST);
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct thread_job){.body = body, .argument = (char *)argument + i * step_bytes};
        assert_int_equal(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

bool is_filled_with(const void *memory, unsigned char value, size_t bytes)
{
    const unsigned char *start = memory;
    return bytes == 0 || (start[0] == value && memcmp(start, start + 1, bytes - 1) == 0);
}
