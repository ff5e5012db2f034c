// hak_ctl_set changes what may change while a program runs, and refuses everything else.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <hakmem.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void expect_gate(const char *gate, const char *expected)
{
    char value[64];
    EXPECT(hak_ctl_get(gate, value, sizeof value) == 0);
    EXPECT(strcmp(value, expected) == 0);
}

static void a_live_gate_takes_a_good_value(void)
{
    EXPECT(hak_ctl_set("HAKMEM_DIRTY_LIMIT", "8m") == 0);
    expect_gate("HAKMEM_DIRTY_LIMIT", "8MiB");
    EXPECT(hak_ctl_set("HAKMEM_DIRTY_SHARE", "0") == 0);
    expect_gate("HAKMEM_DIRTY_SHARE", "0");
}

static void a_bad_value_changes_nothing(void)
{
    EXPECT(hak_ctl_set("HAKMEM_DIRTY_LIMIT", "much") == EINVAL);
    EXPECT(hak_ctl_set("HAKMEM_DIRTY_LIMIT", "") == EINVAL);
    expect_gate("HAKMEM_DIRTY_LIMIT", "8MiB");
    EXPECT(hak_ctl_set("HAKMEM_DIRTY_SHARE", "101") == EINVAL);
    expect_gate("HAKMEM_DIRTY_SHARE", "0");
}

// A band goes to another backend and back while its blocks are out.
static void a_route_changes_under_a_program(void)
{
    void *blocks[3];
    static const char *const switches[] = {"off", "on", "off"};
    EXPECT(hak_ctl_set("HAKMEM_MID_V3_CLASSES", "0x60") == 0);
    expect_gate("HAKMEM_MID_V3_CLASSES", "0x60");
    for (int i = 0; i < 3; i++) {
        EXPECT(hak_ctl_set("HAKMEM_MID_V3_ENABLED", switches[i]) == 0);
        expect_gate("HAKMEM_MID_V3_ENABLED", switches[i]);
        blocks[i] = hak_malloc(400);
        memset(blocks[i], i, 400);
    }
    for (int i = 0; i < 3; i++) {
        EXPECT(((char *)blocks[i])[399] == i);
        hak_free(blocks[i]);
    }
    EXPECT(hak_ctl_set("HAKMEM_MID_V3_CLASSES", "0x100") == EINVAL);
    EXPECT(hak_ctl_set("HAKMEM_MID_V3_ENABLED", "2") == EINVAL);
    expect_gate("HAKMEM_MID_V3_CLASSES", "0x60");
    expect_gate("HAKMEM_MID_V3_ENABLED", "off");
}

static void a_gate_of_the_start_stays(void)
{
    expect_gate("HAKMEM_BIN_BYTES", "64KiB");
    EXPECT(hak_ctl_set("HAKMEM_BIN_BYTES", "1MiB") == EPERM);
    EXPECT(hak_ctl_set("HAKMEM_PROFILE", "lean") == EPERM);
    expect_gate("HAKMEM_BIN_BYTES", "64KiB");
}

static void an_unknown_gate_is_told(void)
{
    char value[64];
    EXPECT(hak_ctl_get("HAKMEM_NOTHING", value, sizeof value) == ENOENT);
    EXPECT(hak_ctl_set("HAKMEM_NOTHING", "1") == ENOENT);
    EXPECT(hak_ctl_get("dirty_limit", value, sizeof value) == ENOENT);
}

static void a_value_that_does_not_fit_is_told(void)
{
    char value[4];
    EXPECT(hak_ctl_get("HAKMEM_DIRTY_LIMIT", value, sizeof value) == ERANGE);
    EXPECT(hak_ctl_get("HAKMEM_DIRTY_SHARE", value, 1) == ERANGE);
    EXPECT(hak_ctl_get("HAKMEM_DIRTY_SHARE", value, 2) == 0);
}

static void the_limit_is_one_by_gate_and_by_function(void)
{
    EXPECT(hak_ctl_set("HAKMEM_LIMIT", "1GiB") == 0);
    EXPECT(hak_limit_get() == (size_t)1 << 30);
    (void)hak_limit_set(0);
    expect_gate("HAKMEM_LIMIT", "off");
}

int main(void)
{
    a_live_gate_takes_a_good_value();
    a_bad_value_changes_nothing();
    a_route_changes_under_a_program();
    a_gate_of_the_start_stays();
    an_unknown_gate_is_told();
    a_value_that_does_not_fit_is_told();
    the_limit_is_one_by_gate_and_by_function();
    return check_result();
}
