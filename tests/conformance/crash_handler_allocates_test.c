// A handler of SIGSEGV that allocates, as crash reporters do, while other threads churn: the report is made
// and the process ends with the handler's status, whether the program's own code failed, or memcpy inside
// realloc, on a page that the program had locked away.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ROUND_COUNT = 10,
    THREAD_COUNT = 4,
    REPORT_LINES = 200,
    BLOCK_BYTES = 200000,  // of one class, so that realloc copies it
    PAGE_BYTES_MOST = 65536,
    HANDLER_STATUS = 3,
    CHILD_SECONDS = 5,
};

static pthread_barrier_t start;

static void *churn(void *unused)
{
    (void)pthread_barrier_wait(&start);
    for (size_t i = 0;; i++) {
        free(hidden_ptr(malloc(hidden(i % 5000))));
        free(hidden_ptr(malloc(hidden(i % 16 * 50000))));
    }
    return unused;
}

static void report(int signal_number)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    REQUIRE(stream != NULL);
    for (int i = 0; i < REPORT_LINES; i++) {
        (void)fprintf(stream, "signal %d, line %d of the report\n", signal_number, i);
    }
    (void)fclose(stream);
    EXPECT(length > REPORT_LINES * 20);
    free(text);
    _exit(check_result() == 0 ? HANDLER_STATUS : 1);
}

static void fail_in_the_program(void)
{
    *(volatile int *)hidden_ptr(NULL) = 1;
}

static void fail_in_realloc(void)
{
    char *block = malloc(hidden(BLOCK_BYTES));
    REQUIRE(block != NULL);
    uintptr_t page = ((uintptr_t)block + PAGE_BYTES_MOST) & ~(uintptr_t)(PAGE_BYTES_MOST - 1);
    REQUIRE(mprotect((void *)page, PAGE_BYTES_MOST, PROT_NONE) == 0);
    free(realloc(hidden_ptr(block), hidden(20 * BLOCK_BYTES)));
}

static void crash(void (*fail)(void))
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = report};
    (void)alarm(CHILD_SECONDS);
    REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
    REQUIRE(pthread_barrier_init(&start, NULL, THREAD_COUNT + 1) == 0);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&thread, NULL, churn, NULL) == 0);
    }
    (void)pthread_barrier_wait(&start);
    (void)usleep(2000);
    fail();
    _exit(1);
}

static void the_report_is_made(void (*fail)(void), const char *name)
{
    int status = -1;
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        crash(fail);
    }
    REQUIRE(waitpid(pid, &status, 0) == pid);
    (void)check_that(WIFEXITED(status) && WEXITSTATUS(status) == HANDLER_STATUS, name, status,
                     "the handler to end the process");
}

int main(void)
{
    (void)alarm(60);
    for (size_t i = 0; i < ROUND_COUNT; i++) {
        the_report_is_made(fail_in_the_program, "in the program");
        if (check_has_hakmem()) {
            // libc copies with a lock held, or moves the pages.
            the_report_is_made(fail_in_realloc, "in realloc");
        }
    }
    return check_result();
}
