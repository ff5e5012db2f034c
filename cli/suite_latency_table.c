// The times of single calls, as lines of a table.
// SPDX-License-Identifier: MIT
#include "suite_report.h"

bool suite_has_latency(const struct suite_report *report, enum suite_id suite)
{
    for (size_t i = 0; i < report->row_count; i++) {
        const struct suite_row *row = &report->rows[i];
        if (row->workload->suite == suite && row->latencies[report->ours].is_there) {
            return true;
        }
    }
    return false;
}

static void print_line(FILE *out, const struct suite_report *report, const struct suite_row *row,
                       size_t allocator, const struct suite_latency_form *form)
{
    if (!row->latencies[allocator].is_there) {
        return;
    }
    (void)fprintf(out, "%s%-*s%s%-*s", form->start, form->name_columns, row->workload->name,
                  form->separator, form->name_columns / 2, report->allocators.list[allocator].name);
    for (size_t call = 0; call < LATENCY_CALL_COUNT; call++) {
        for (size_t rank = 0; rank < LATENCY_RANK_COUNT; rank++) {
            (void)fprintf(out, "%s%*.0f", form->separator, form->number_columns,
                          row->latencies[allocator].ns[call][rank]);
        }
    }
    (void)fprintf(out, "%s\n", form->end);
}

void suite_latency_print(FILE *out, const struct suite_report *report, enum suite_id suite,
                         const struct suite_latency_form *form)
{
    for (size_t i = 0; i < report->row_count; i++) {
        const struct suite_row *row = &report->rows[i];
        for (size_t j = 0; row->workload->suite == suite && j < report->allocators.count; j++) {
            print_line(out, report, row, j, form);
        }
    }
}
