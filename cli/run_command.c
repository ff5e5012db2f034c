// `hakmem run`: starts a program with the library preloaded.
// SPDX-License-Identifier: MIT
#include "command.h"
#include "launch.h"
#include "library.h"
#include "policy/gates.h"
#include "program_file.h"
#include "run_summary.h"
#include "settings.h"
#include "stats_file.h"
#include "talk.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run_options {
    char **words;  // the program and its arguments
    const char *summary_path;
    bool has_stats;
    bool is_refused;  // a setting was wrong, and that was said
};

enum {
    OPTION_SET = 's',
    OPTION_PROFILE = 'p',
    OPTION_STATS = 'S'
};

static const struct argp_option options[] = {
    {"profile", OPTION_PROFILE, "NAME", 0, "Use this named set of settings", 0},
    {"set", OPTION_SET, "GATE=VALUE", 0, "Change one setting; may be given several times", 0},
    {"stats", OPTION_STATS, "FILE", OPTION_ARG_OPTIONAL,
     "When the program has ended, print its time, memory and heap on standard error or to FILE", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static const char help[] =
    "Runs a program with hakmem as its allocator. The exit status and the output are the "
    "program's.\vA setting is taken from --set, else from the environment (HAKMEM_DIRTY_LIMIT and "
    "so on), else from the profile. `hakmem gates` and `hakmem profiles` list them.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct run_options *run = state->input;
    switch (key) {
    case OPTION_PROFILE:
        run->is_refused |= !settings_set_profile(argument);
        return 0;
    case OPTION_SET:
        run->is_refused |= !settings_set_gate(argument);
        return 0;
    case OPTION_STATS:
        run->has_stats = true;
        run->summary_path = argument;
        return 0;
    case ARGP_KEY_ARG:
        run->words = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no program was given; write hakmem run -- PROGRAM");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool preload_library(void)
{
    char path[PATH_MAX];
    char sentence[LIBRARY_SENTENCE_BYTES];
    if (!library_find(path, sentence)) {
        talk_say("%s", sentence);
        return false;
    }
    if (!library_preload(path)) {
        talk_say("The environment cannot be extended: memory is out.");
        return false;
    }
    return true;
}

// Said only to those who look for it: a plain `hakmem run` is silent.
static void warn_of_obstacle(const char *program)
{
    struct program_file file;
    if (program_file_resolve(program, &file) == 0 && program_file_obstacle(&file) != NULL) {
        talk_say("%s runs without hakmem: %s.", file.path, program_file_obstacle(&file));
    }
}

static void say_idle(const char *sentence, void *context)
{
    (void)context;
    talk_say("%s", sentence);
}

static bool is_verbose(void)
{
    const char *value = getenv("HAKMEM_VERBOSE");
    struct gates values = gates_default;
    return value != NULL && gate_set(&values, GATE_ID_verbose, value, NULL) && values.verbose;
}

static FILE *open_summary(const char *path)
{
    if (path == NULL) {
        return stderr;
    }
    FILE *out = fopen(path, "we");
    if (out == NULL) {
        talk_say("%s cannot be written: %s.", path, strerror(errno));
    }
    return out;
}

static int run_with_stats(const struct run_options *run)
{
    struct stats_file file;
    struct launch_result result;
    FILE *out = open_summary(run->summary_path);
    if (out == NULL || !stats_file_open(&file)) {
        return EXIT_TOOL_FAILED;
    }
    int status = launch_and_wait(run->words, &result);
    if (status == 0) {
        json_t *figures = stats_file_read(&file, result.pid);
        run_summary_print(out, run->words[0], &result, figures);
        json_decref(figures);
        status = launch_exit_status(result.wait_status);
    }
    stats_file_close(&file);
    if (fflush(out) != 0) {
        talk_say("The summary could not be written: %s.", strerror(errno));
    }
    return status;
}

int run_command(int argc, char **argv)
{
    const struct argp argp = {options, parse_option, "-- PROGRAM [ARGUMENT...]", help, NULL,
                              NULL,    NULL};
    struct run_options run = {.words = NULL};
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run) != 0 || run.is_refused) {
        return EXIT_WRONG_USAGE;
    }
    settings_check();
    settings_complete_profile();
    if (run.has_stats || is_verbose()) {
        settings_find_idle(environ, say_idle, NULL);
        warn_of_obstacle(run.words[0]);
    }
    if (!preload_library()) {
        return EXIT_TOOL_FAILED;
    }
    return run.has_stats ? run_with_stats(&run) : launch_become(run.words);
}
