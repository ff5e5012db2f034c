// Runs a program again and again; each time another one of the allocator's system calls for memory fails
// with ENOMEM.
// SPDX-License-Identifier: MIT
//
// Usage: inject_faults TRIES COUNT STATUS CALLS PROGRAM [ARGUMENT...]
//   TRIES   so many numbers N, spread over all the calls that the program makes, up to 2000
//   COUNT   so many calls fail, from the Nth on
//   STATUS  zero: the program must exit with 0 and write nothing to standard error, whatever fails;
//           any: it may give up with a message of its own, but not die of a signal
//   CALLS   all, or mmap, munmap, mremap, madvise, mprotect: the kind that is counted
// Calls that libc or the program makes itself are let through.
#include "call_supervisor.h"
#include "faults_end.h"
#include "test_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    NUMBER_MOST = 2000,
    TEXT_BYTES = 4000,
    OWN_CODE_MOST = 64,
    USAGE_STATUS = 2,
};

static const struct {
    const char *name;
    int number;
} kinds[] = {
    {"mmap", SYS_mmap},       {"munmap", SYS_munmap},     {"mremap", SYS_mremap},
    {"madvise", SYS_madvise}, {"mprotect", SYS_mprotect},
};

enum {
    KIND_COUNT = sizeof kinds / sizeof kinds[0]
};

// What is to fail in a run, and what the run has seen.
struct plan {
    size_t first;  // 0: nothing
    size_t count;
    size_t call_count;
    bool is_over;
};

// Places in the allocator that make system calls, as far as they were met in the run: reading the maps of a
// process takes longer than the call.
static struct {
    struct {
        pid_t thread;
        uint64_t address;
    } places[OWN_CODE_MOST];
    size_t count;
} own_code;

static bool is_known(pid_t thread, uint64_t address)
{
    for (size_t i = 0; i < own_code.count; i++) {
        if (own_code.places[i].thread == thread && own_code.places[i].address == address) {
            return true;
        }
    }
    return false;
}

static bool is_allocators(const struct supervised_call *call)
{
    if (is_known(call->thread, call->return_address)) {
        return true;
    }
    if (!address_is_in_file(call->thread, call->return_address, "libhakmem.so")) {
        return false;
    }
    size_t place = own_code.count < OWN_CODE_MOST ? own_code.count++ : 0;
    own_code.places[place].thread = call->thread;
    own_code.places[place].address = call->return_address;
    return true;
}

static struct {
    char *const *argv;
    const char *kind;
    bool may_give_up;
} setup;

static bool is_counted(const struct supervised_call *call)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (call->number == kinds[i].number) {
            return strcmp(setup.kind, "all") == 0 || strcmp(setup.kind, kinds[i].name) == 0;
        }
    }
    return false;
}

static int judge(const struct supervised_call *call, void *context)
{
    struct plan *plan = context;
    if (call->number == SYS_madvise && call->arguments[2] == FAULTS_END_ADVICE) {
        plan->is_over = true;
    }
    if (plan->is_over || !is_counted(call) || !is_allocators(call)) {
        return 0;
    }
    size_t number = ++plan->call_count;
    bool fails = plan->first != 0 && number >= plan->first && number - plan->first < plan->count;
    return fails ? ENOMEM : 0;
}

// What the program said on standard error becomes ours.
static size_t pass_on(int file)
{
    char text[TEXT_BYTES];
    ssize_t length = pread(file, text, sizeof text, 0);
    ssize_t written = length > 0 ? write(STDERR_FILENO, text, (size_t)length) : 0;
    (void)written;
    return length > 0 ? (size_t)length : 0;
}

static void run(struct plan *plan)
{
    char name[100];
    int calls[KIND_COUNT];
    int status = -1;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        calls[i] = kinds[i].number;
    }
    int file = memfd_create("standard error", MFD_CLOEXEC);
    REQUIRE(file >= 0);
    own_code.count = 0;
    if (!supervise(setup.argv, file, calls, KIND_COUNT, judge, plan, &status)) {
        check_skip("this kernel can't ask about system calls");
    }
    (void)snprintf(name, sizeof name, "with %zu calls refused from number %zu on", plan->count,
                   plan->first);
    bool may_give_up = setup.may_give_up && plan->first != 0;
    bool is_right = WIFEXITED(status) && (may_give_up || WEXITSTATUS(status) == 0);
    if (!is_right || !may_give_up) {
        bool is_silent = pass_on(file) == 0;
        (void)check_that(is_right, name, 0, "the program to end as it should");
        (void)check_that(is_silent, name, 0, "nothing on standard error");
    }
    (void)close(file);
}

static size_t least(size_t one, size_t other)
{
    return one < other ? one : other;
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        (void)fprintf(stderr, "usage: inject_faults TRIES COUNT STATUS CALLS PROGRAM ...\n");
        return USAGE_STATUS;
    }
    size_t most_tries = strtoull(argv[1], NULL, 10);
    size_t fail_count = strtoull(argv[2], NULL, 10);
    setup.may_give_up = strcmp(argv[3], "any") == 0;
    setup.kind = argv[4];
    setup.argv = argv + 5;
    struct plan calm = {.first = 0};
    run(&calm);
    EXPECT(calm.call_count > 0);
    size_t number_count = least(calm.call_count, NUMBER_MOST);
    size_t try_count = least(number_count, most_tries);
    for (size_t i = 0; i < try_count; i++) {
        struct plan plan = {.first = 1 + i * number_count / try_count, .count = fail_count};
        run(&plan);
    }
    (void)printf("%zu calls of the allocator, %zu tries\n", calm.call_count, try_count);
    return check_result();
}
