// `hakmem bench`: the workloads of the suite on several allocators in turns.
// SPDX-License-Identifier: MIT
#include "ab_output.h"
#include "command.h"
#include "compare_sides.h"
#include "gnuplot.h"
#include "suite_report.h"
#include "suite_run.h"
#include "talk.h"

#include <stdlib.h>
#include <string.h>

static bool can_write_results(const struct suite_options *options)
{
    const char *const paths[] = {options->json_path, options->record_path, options->plot_path,
                                 options->html_path};
    if ((options->plot_path != NULL || options->html_path != NULL) && !gnuplot_is_there()) {
        return false;
    }
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (paths[i] != NULL && !ab_output_can_write(paths[i])) {
            return false;
        }
    }
    return true;
}

static bool write_record(const struct suite_report *report, const char *path)
{
    struct ab_output output;
    if (!ab_output_open(&output, path)) {
        return false;
    }
    suite_record_print(output.file, report);
    return ab_output_commit(&output);
}

static int write_results(const struct suite_report *report)
{
    const struct suite_options *options = report->options;
    suite_table_print(stdout, report);
    bool is_good = (options->json_path == NULL || suite_json_write(report, options->json_path)) &&
                   (options->record_path == NULL || write_record(report, options->record_path)) &&
                   (options->plot_path == NULL || suite_plot_write(report, options->plot_path)) &&
                   (options->html_path == NULL || suite_html_write(report, options->html_path));
    return is_good ? EXIT_SUCCESS : EXIT_TOOL_FAILED;
}

static bool find_ours(struct suite_report *report)
{
    report->ours = 0;
    while (!report->allocators.list[report->ours].is_hakmem) {
        report->ours++;  // compare_allocators_find puts it into every list
    }
    if (!report->identities[report->ours].is_hakmem) {
        talk_say("%s is not hakmem. `hakmem doctor` tells more.",
                 report->allocators.list[report->ours].object);
        return false;
    }
    return true;
}

static int run_suite(struct suite_report *report, const struct compare_proofs *proofs)
{
    if (!can_write_results(report->options) || !suite_rows_find(report) ||
        !suite_rows_prepare(report, proofs) || !find_ours(report)) {
        return EXIT_TOOL_FAILED;
    }
    ab_machine_describe(report->machine);
    if (!suite_run(report, proofs)) {
        return EXIT_TOOL_FAILED;
    }
    suite_judge(report);
    return write_results(report);
}

int bench_command(int argc, char **argv)
{
    static struct suite_report report;
    struct suite_options options;
    struct compare_proofs proofs;
    report.options = &options;
    suite_options_read(argc, argv, &options);
    int status = compare_sides_start(&options.common, options.allocators, &report.core, &proofs,
                                     &report.allocators);
    return status == EXIT_SUCCESS ? run_suite(&report, &proofs) : status;
}
