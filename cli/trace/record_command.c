// `hakmem record`: starts a program with the recorder preloaded, and makes its trace small.
// SPDX-License-Identifier: MIT
#include "ab_output.h"
#include "command.h"
#include "launch.h"
#include "library.h"
#include "near_file.h"
#include "program_file.h"
#include "talk.h"
#include "trace_file.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_OUTPUT = 'o'
};

struct record_options {
    char **words;  // the program and its arguments
    const char *output;
};

static const struct argp_option options[] = {
    {"output", OPTION_OUTPUT, "FILE", 0, "The trace (hakmem.trace); an older trace is overwritten",
     0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const char help[] =
    "Runs a program and writes each of its allocations into a file: which thread, which function, "
    "how many bytes, and until when. The exit status and the output are the program's.\v"
    "`hakmem replay FILE` then tells what allocators cost it. Processes that the program starts "
    "are not recorded.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct record_options *record = state->input;
    switch (key) {
    case OPTION_OUTPUT:
        record->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        record->words = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no program was given; write hakmem record -- PROGRAM");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool can_record(const char *program)
{
    struct program_file file;
    int error = program_file_resolve(program, &file);
    const char *obstacle = error == 0 ? program_file_obstacle(&file) : NULL;
    if (obstacle != NULL) {
        talk_say("%s cannot be recorded: %s.", file.path, obstacle);
    }
    return obstacle == NULL;
}

// Makes an empty file, and its path that holds wherever the program goes.
static int open_output(const char *output, char path[PATH_MAX])
{
    struct stat status;
    if (output[0] == '\0') {
        talk_say("--output= names no file.");
        return EXIT_WRONG_USAGE;
    }
    if (stat(output, &status) == 0 && S_ISREG(status.st_mode) && !trace_file_is_trace(output)) {
        talk_say("%s is there already and is no trace. Give another --output.", output);
        return EXIT_WRONG_USAGE;
    }
    if (!ab_output_can_write(output)) {
        return EXIT_TOOL_FAILED;
    }
    int file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0 || realpath(output, path) == NULL) {
        talk_say("%s cannot be written: %s.", output, strerror(errno));
        return EXIT_TOOL_FAILED;
    }
    (void)close(file);
    return EXIT_SUCCESS;
}

static bool prepare_environment(const char *path)
{
    static const char recorder_name[] = "libhakmem_record.so";
    char recorder[PATH_MAX];
    char wish[PATH_MAX + 32];
    if (!near_file_find("bench", recorder_name, recorder)) {
        talk_say("%s was not found near this command. Build or install hakmem whole.",
                 recorder_name);
        return false;
    }
    if (strpbrk(recorder, ": ") != NULL) {
        talk_say("%s cannot be preloaded: its path has a space or a colon in it, which LD_PRELOAD "
                 "cannot express. Move it.",
                 recorder);
        return false;
    }
    (void)snprintf(wish, sizeof wish, "%d:%s", (int)getpid(), path);
    if (setenv("RECORD_TRACE", wish, 1) != 0 || !library_preload(recorder)) {
        talk_say("The environment cannot be extended: memory is out.");
        return false;
    }
    return true;
}

static void tell(const struct trace *trace, const char *output, const char *path)
{
    struct stat status = {.st_size = 0};
    char size[TALK_SIZE_BYTES];
    (void)stat(path, &status);
    talk_say("%s: %zu allocations and %zu frees in %zu thread%s, %zu of them handed over; %s.",
             output, trace->birth_count, trace->free_count, trace->thread_count,
             trace->thread_count == 1 ? "" : "s", trace->handover_count,
             talk_size(size, (uint64_t)status.st_size));
    if (!trace->is_ended) {
        talk_say("The program didn't leave by exit, or could no longer write to %s: the trace ends "
                 "up to some thousand calls of each thread before it did.",
                 output);
    } else if (trace->ending == TRACE_FULL) {
        talk_say("The program goes on after the trace, which is full: it takes %d calls.",
                 TRACE_MOMENTS_MOST - 1);
    }
}

static bool finish_trace(const char *output, const char *path)
{
    struct trace trace;
    struct stat status;
    if (stat(path, &status) == 0 && status.st_size <= TRACE_HEAD_BYTES) {
        talk_say(
            "Nothing was recorded: the program never asked for memory, was started without the "
            "preload, ended by a signal, or was not allowed to write %s.",
            output);
        return false;
    }
    if (!trace_file_read(path, &trace)) {
        return false;
    }
    bool is_written = trace_file_write(&trace, path);
    tell(&trace, output, path);
    trace_file_drop(&trace);
    return is_written;
}

int record_command(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "-- PROGRAM [ARGUMENT...]", help, NULL,
                              NULL,    NULL};
    struct record_options record = {.output = "hakmem.trace"};
    struct launch_result result;
    char path[PATH_MAX];
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &record) != 0) {
        return EXIT_WRONG_USAGE;
    }
    if (!can_record(record.words[0])) {
        return EXIT_TOOL_FAILED;
    }
    int status = open_output(record.output, path);
    if (status != EXIT_SUCCESS) {
        return status;
    }
    if (!prepare_environment(path)) {
        return EXIT_TOOL_FAILED;
    }
    status = launch_and_wait(record.words, &result);
    if (status != 0) {
        (void)unlink(path);
        return status;
    }
    bool is_recorded = finish_trace(record.output, path);
    status = launch_exit_status(result.wait_status);
    return status == EXIT_SUCCESS && !is_recorded ? EXIT_TOOL_FAILED : status;
}
