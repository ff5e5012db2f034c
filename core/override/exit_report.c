// At exit, appends the process's figures to the file that HAKMEM_STATS names.
// SPDX-License-Identifier: MIT
#include "os/os_process.h"
#include "policy/gates.h"
#include "thread/heap_stats.h"

enum {
    REPORT_BYTES = 32 << 10
};

__attribute__((destructor)) static void report_at_exit(void)
{
    static char report[REPORT_BYTES];  // not on the stack: an exiting thread's may be small
    if (gates.stats[0] == '\0') {
        return;
    }
    size_t length = heap_stats_json(report, sizeof report - 1);
    if (length < sizeof report - 1) {
        report[length] = '\n';
        (void)os_append_file(gates.stats, report, length + 1);
    }
}
