// Which allocator is under test; see test_check.h.  Apart from the checks themselves, as a static
// program has no dlsym.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *check_symbol(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

bool check_has_hakmem(void)
{
    return check_symbol("hak_version") != NULL;
}

bool check_gate_is(const char *gate, const char *value)
{
    int (*ctl_get)(const char *name, char *text, size_t bytes) = NULL;
    char present[64] = "";
    *(void **)&ctl_get = check_symbol("hak_ctl_get");
    return ctl_get != NULL && ctl_get(gate, present, sizeof present) == 0 &&
           strcmp(present, value) == 0;
}

// A preload that the loader drops says so in a warning only, and the test would then judge glibc.
// HAK_TEST_PRELOAD names a symbol that the preloaded library must have brought along.
__attribute__((constructor)) static void require_preload(void)
{
    const char *symbol = getenv("HAK_TEST_PRELOAD");
    if (symbol != NULL && check_symbol(symbol) == NULL) {
        (void)check_that(false, symbol, 0, "the preloaded library to be in effect");
        check_give_up();
    }
}
