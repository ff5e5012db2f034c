// A fork while other threads change a setting, set the limit's callback, or are refused memory: the
// child can do the same at once.  On hakmem there is a limit, whatever the environment says of it.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include "hakmem.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    CHURNER_COUNT = 3,
    FORK_COUNT = 300,
    CHILD_SECONDS = 3,
    THRESHOLD_BYTES = 1 << 20,
    LIMIT_BYTES = 32 << 20,
};

static struct {
    _Atomic bool stop;
    size_t (*set_limit)(size_t limit_bytes);                            // NULL: not hakmem
    void (*set_callback)(hak_limit_callback *callback, void *context);  // likewise
    void (*deed)(void);
} stage;

static void change_a_setting(void)
{
    (void)mallopt(M_TRIM_THRESHOLD, THRESHOLD_BYTES);
}

// Above every limit, and above what there is.
static void be_refused(void)
{
    errno = 0;
    EXPECT(malloc(hidden(SIZE_MAX / 4)) == NULL && errno == ENOMEM);
}

static void set_the_callback(void)
{
    stage.set_callback(NULL, NULL);
}

static void do_it_in_child(void)
{
    for (int i = 0; i < 3; i++) {
        change_a_setting();
        be_refused();
        if (stage.set_callback != NULL) {
            set_the_callback();
        }
    }
}

static void *churn(void *unused)
{
    while (!atomic_load_explicit(&stage.stop, memory_order_relaxed)) {
        stage.deed();
    }
    return unused;
}

static void fork_during(const char *name, void (*deed)(void))
{
    pthread_t threads[CHURNER_COUNT];
    stage.deed = deed;
    atomic_store_explicit(&stage.stop, false, memory_order_relaxed);
    for (size_t i = 0; i < CHURNER_COUNT; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, churn, NULL) == 0);
    }
    for (size_t i = 0; i < FORK_COUNT && check_result() == 0; i++) {
        check_in_child(name, do_it_in_child, CHILD_SECONDS);
    }
    atomic_store_explicit(&stage.stop, true, memory_order_relaxed);
    for (size_t i = 0; i < CHURNER_COUNT; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

int main(void)
{
    (void)alarm(90);
    *(void **)&stage.set_callback = check_symbol("hak_limit_set_callback");
    *(void **)&stage.set_limit = check_symbol("hak_limit_set");
    REQUIRE((stage.set_callback != NULL) == check_has_hakmem());
    REQUIRE((stage.set_limit != NULL) == check_has_hakmem());
    if (stage.set_limit != NULL) {
        (void)stage.set_limit(LIMIT_BYTES);
    }
    fork_during("a child forked while a setting changes", change_a_setting);
    fork_during("a child forked while memory is refused", be_refused);
    if (stage.set_callback != NULL) {
        fork_during("a child forked while the callback is set", set_the_callback);
    }
    return check_result();
}
