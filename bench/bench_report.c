// SPDX-License-Identifier: MIT
#include "bench_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "bench_allocator.h"
#include "bench_support.h"

enum {
    DESCRIPTION_BYTES = 1024
};

double bench_mops(uint64_t operations, uint64_t elapsed_ns)
{
    return (double)operations * 1000.0 / (double)elapsed_ns;
}

double bench_mib(size_t bytes)
{
    return (double)bytes / (1 << 20);
}

static size_t further_count(const struct bench_result *result)
{
    size_t count = 0;
    while (count < BENCH_FURTHER_MOST && result->further[count].name != NULL) {
        count++;
    }
    return count;
}

static void print_line(const struct bench_program *program, const struct bench_result *result,
                       const struct bench_allocator *allocator, const char *description)
{
    bench_print(stdout, "%s %s: %.2f %s", program->name, description, result->figure, result->unit);
    for (size_t index = 0; index < further_count(result); index++) {
        bench_print(stdout, ", %s %.6g", result->further[index].name, result->further[index].value);
    }
    bench_print(stdout, ", %.3f s, RSS %.1f MiB, peak %.1f MiB, allocator %s %s\n",
                (double)result->elapsed_ns / 1e9, bench_mib(result->rss_bytes),
                bench_mib(result->peak_rss_bytes), allocator->name, allocator->version);
}

static void print_json_text(const char *name, const char *text)
{
    bench_print(stdout, "\"%s\": \"", name);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            bench_print(stdout, "\\");
        }
        if ((unsigned char)*text >= ' ') {
            bench_print(stdout, "%c", *text);
        }
    }
    bench_print(stdout, "\", ");
}

static void print_json(const struct bench_program *program, const struct bench_result *result,
                       const struct bench_allocator *allocator, const char *description)
{
    bench_print(stdout, "{");
    print_json_text("bench", program->name);
    print_json_text("arguments", description);
    print_json_text("allocator", allocator->name);
    print_json_text("allocator_version", allocator->version);
    print_json_text("allocator_object", allocator->object);
    print_json_text("unit", result->unit);
    print_json_text("better", result->lower_is_better ? "lower" : "higher");
    bench_print(stdout,
                "\"figure\": %.9g, \"operations\": %" PRIu64 ", \"elapsed_ns\": %" PRIu64
                ", \"threads\": %zu",
                result->figure, result->operations, result->elapsed_ns, result->thread_count);
    for (size_t index = 0; index < further_count(result); index++) {
        bench_print(stdout, ", \"%s\": %.9g", result->further[index].name,
                    result->further[index].value);
    }
    bench_print(stdout, ", \"rss_bytes\": %zu, \"peak_rss_bytes\": %zu}\n", result->rss_bytes,
                result->peak_rss_bytes);
}

int bench_report(const struct bench_program *program, const struct bench_result *result)
{
    struct bench_result complete = *result;
    if (complete.unit == NULL) {
        complete.figure = bench_mops(result->operations, result->elapsed_ns);
        complete.unit = "M ops/s";
    }
    if (complete.rss_bytes == 0) {
        complete.rss_bytes = bench_rss_bytes();
    }
    if (complete.peak_rss_bytes == 0) {
        complete.peak_rss_bytes = bench_peak_rss_bytes();
    }
    static struct bench_allocator allocator;
    bench_allocator_read(&allocator);
    char description[DESCRIPTION_BYTES];
    bench_arguments_describe(program, description, sizeof(description));
    print_line(program, &complete, &allocator, description);
    if (program->wants_json) {
        print_json(program, &complete, &allocator, description);
    }
    if (fflush(stdout) != 0) {
        bench_die("writing the result");
    }
    return 0;
}
