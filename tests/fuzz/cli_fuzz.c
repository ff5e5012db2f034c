// Any bytes may stand in a file of figures, in what a measured program prints, and after --measure: the
// command reads them or says why not.
// SPDX-License-Identifier: MIT
#include "experiment_measure.h"
#include "stats_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void read_as_figures(const uint8_t *data, size_t bytes)
{
    struct stats_file file = {.is_ours = false, .start_offset = 0};
    int descriptor = memfd_create("figures", MFD_CLOEXEC);
    require(descriptor >= 0 && write(descriptor, data, bytes) == (ssize_t)bytes);
    (void)snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", descriptor);
    json_t *figures = stats_file_read(&file, 1);
    require(figures == NULL || json_integer_value(json_object_get(figures, "pid")) == 1);
    json_decref(figures);
    (void)close(descriptor);
}

static void take_figure(const char *what, char *printed)
{
    struct experiment_measure measure;
    struct experiment_run run = {.output = printed};
    double figure = 0;
    char text[MEASURE_TEXT_BYTES];
    memset(&measure, 0, sizeof measure);
    if (!experiment_measure_read(&measure, what)) {
        return;
    }
    require(strlen(measure.name) < sizeof measure.name);
    if (experiment_measure_needs_output(&measure)) {
        if (experiment_measure_take(&measure, &run, &figure) == MEASURE_TAKEN) {
            require(figure > 0);
            require(strlen(experiment_measure_format(&measure, figure, figure, text)) <
                    sizeof text);
        }
        regfree(&measure.pattern);
    }
}

// Up to the first line's end: what is to be measured, kept short as a pattern that people write is; the
// rest is what the program printed.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    enum {
        WHAT_BYTES_MOST = 24
    };
    char *text = strndup((const char *)data, bytes);
    require(text != NULL);
    read_as_figures(data, bytes);
    char throughput[] = "throughput";
    take_figure(throughput, text);
    char *printed = strchr(text, '\n');
    // The C library's regcomp and regexec take space without bound for repeated repetitions.
    if (printed != NULL && printed - text < WHAT_BYTES_MOST && strchr(text, '{') == NULL) {
        *printed = '\0';
        take_figure(text, printed + 1);
    }
    free(text);
    return 0;
}
