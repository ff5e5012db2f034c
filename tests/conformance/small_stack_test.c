// malloc and realloc work on the smallest stack that a thread may have.
// SPDX-License-Identifier: MIT
#include "random_stream.h"
#include "test_check.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    THREAD_COUNT = 4,
    OP_COUNT = 3000,
    LARGEST_BYTES = 500 << 10,
    COROUTINE_STACK_BYTES = 8192,  // the least that sigaltstack took for long
};

static void work(uint64_t seed)
{
    struct random_stream random = {.state = seed};
    void *block = NULL;
    for (size_t i = 0; i < OP_COUNT; i++) {
        size_t bytes = random_below(&random, i % 8 == 0 ? LARGEST_BYTES : 2000) + 1;
        block = realloc(block, bytes);
        REQUIRE(block != NULL);
        ((char *)block)[bytes - 1] = 1;
        free(malloc(random_below(&random, LARGEST_BYTES)));
    }
    free(block);
}

static void *work_in_thread(void *seed)
{
    work((uintptr_t)seed);
    return NULL;
}

static void work_in_coroutine(void)
{
    work(77);
}

static void a_coroutine_can_allocate(void)
{
    static _Alignas(16) char stack[COROUTINE_STACK_BYTES];
    ucontext_t main_context;
    ucontext_t context;
    REQUIRE(getcontext(&context) == 0);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = sizeof(stack);
    context.uc_link = &main_context;
    makecontext(&context, work_in_coroutine, 0);
    REQUIRE(swapcontext(&main_context, &context) == 0);
}

int main(void)
{
    pthread_t threads[THREAD_COUNT];
    pthread_attr_t attributes;
    (void)alarm(30);
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) == 0);
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], &attributes, work_in_thread, (void *)(i + 1)) == 0);
    }
    for (size_t i = 0; i < THREAD_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    a_coroutine_can_allocate();
    return check_result();
}
