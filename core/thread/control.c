// SPDX-License-Identifier: MIT
#include "thread/control.h"

#include "base/text.h"
#include "os/os_process.h"
#include "os/os_shared_file.h"
#include "os/os_thread.h"
#include "policy/gates.h"
#include "thread/gate_set.h"

#include <string.h>

enum {
    PATH_BYTES = GATE_TEXT_BYTES + 32
};

static _Atomic uint32_t no_request;

struct control control = {.request = &no_request};

// Set at start, then only read; the lock is for whoever answers.
static struct {
    struct lock lock;
    struct control_page *page;
    char path[PATH_BYTES];
} control_file;

void control_start(void)
{
    if (gates.control[0] == '\0') {
        return;
    }
    struct text path = text_start(control_file.path, PATH_BYTES);
    text_add(&path, gates.control);
    text_add(&path, "/hakmem.");
    text_add_uint(&path, (size_t)os_process_id());
    struct control_page *page = os_share_file(control_file.path, sizeof *page);
    if (page == NULL) {
        return;
    }
    control_file.page = page;
    page->magic = CONTROL_MAGIC;
    // Release: whoever looks at the request finds the page.
    atomic_store_explicit(&control.request, &page->request, memory_order_release);
}

// The page is another process's to write: what is read of it is copied and ended first.
static int set_as_asked(const struct control_page *page)
{
    char gate[CONTROL_GATE_BYTES + 1] = {0};
    char value[CONTROL_VALUE_BYTES + 1] = {0};
    memcpy(gate, page->gate, CONTROL_GATE_BYTES);
    memcpy(value, page->value, CONTROL_VALUE_BYTES);
    return gate_set_live(gate, value);
}

// Another thread that is answering answers for this one.
void control_answer(void)
{
    struct control_page *page = control_file.page;
    if (page == NULL || !lock_try(&control_file.lock)) {
        return;
    }
    // Acquire: pairs with the command's release, after it wrote gate and value.
    uint32_t request = atomic_load_explicit(&page->request, memory_order_acquire);
    if (request != atomic_load_explicit(&control.seen, memory_order_relaxed)) {
        atomic_store_explicit(&control.seen, request, memory_order_relaxed);
        page->status = set_as_asked(page);
        // Release: pairs with the command's acquire, before it reads the status.
        atomic_store_explicit(&page->reply, request, memory_order_release);
    }
    lock_give(&control_file.lock);
}

void control_after_fork_in_child(void)
{
    atomic_store_explicit(&control.request, &no_request, memory_order_relaxed);
    atomic_store_explicit(&control.seen, 0, memory_order_relaxed);
    control_file.page = NULL;
}

__attribute__((destructor)) static void remove_at_exit(void)
{
    if (control_file.page != NULL) {
        os_remove_file(control_file.path);
    }
}
