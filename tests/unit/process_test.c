// SPDX-License-Identifier: MIT
#include "hakmem.h"
#include "unit_check.h"

#include <errno.h>
#include <pthread.h>

// The name is the linker's: the allocator's call of pthread_atfork comes here.
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

static struct {
    int refusals_left;
    int call_count;
} atfork;

int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    atfork.call_count++;
    if (atfork.refusals_left > 0) {
        atfork.refusals_left--;
        return ENOMEM;
    }
    return prepare != NULL && parent != NULL && child != NULL ? 0 : EINVAL;
}

static void allocate(void *argument)
{
    (void)argument;
    hak_free(hak_malloc(hidden(100)));
}

static void fork_handlers_that_were_refused_are_registered_by_a_later_thread(void **state)
{
    (void)state;
    atfork.refusals_left = 2;
    allocate(NULL);
    assert_int_equal(atfork.call_count, 1);
    for (int i = 0; i < 4; i++) {
        run_in_threads(allocate, NULL, 0, 1);
    }
    assert_int_equal(atfork.call_count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork_handlers_that_were_refused_are_registered_by_a_later_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
