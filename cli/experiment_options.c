// SPDX-License-Identifier: MIT
#include "experiment_options.h"

#include "command.h"
#include "experiment.h"
#include "experiment_environment.h"
#include "experiment_refuse.h"
#include "program_file.h"
#include "settings.h"
#include "talk.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    OPTION_WORKLOAD = 1024,  // beyond the subcommand's own
    OPTION_ENV,
    OPTION_CORE,
    OPTION_NO_PIN,
    OPTION_PROGRESS,
    OPTION_SEED,
};

static const struct argp_option option_table[] = {
    {"workload", OPTION_WORKLOAD, "NAME", 0, NULL, 0},
    {"env", OPTION_ENV, "NAME", 0, NULL, 0},
    {"core", OPTION_CORE, "N", 0, NULL, 0},
    {"no-pin", OPTION_NO_PIN, NULL, 0, NULL, 0},
    {"progress", OPTION_PROGRESS, NULL, 0, NULL, 0},
    {"seed", OPTION_SEED, "N", 0, NULL, 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

uint64_t experiment_options_number(const char *option, const char *text, uint64_t least,
                                   uint64_t most)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || number < least ||
        number > most) {
        experiment_refuse("%s %s is not a number that it takes. Give %llu to %llu.", option, text,
                          (unsigned long long)least, (unsigned long long)most);
    }
    return number;
}

size_t experiment_options_rounds(const char *option, const char *text)
{
    if (strcmp(text, "1") == 0) {
        experiment_refuse(
            "%s 1 says nothing: without a second run nobody knows the noise. Give at least %d, "
            "better 10.",
            option, ABTEST_PAIRS_LEAST);
    }
    return experiment_options_number(option, text, ABTEST_PAIRS_LEAST, ABTEST_PAIRS_MOST);
}

const char *experiment_options_file(const char *option, const char *text)
{
    if (text[0] == '\0') {
        experiment_refuse("%s= names no file.", option);
    }
    return text;
}

// A title, an empty line, and the status: as every record begins.
static bool is_record(FILE *in)
{
    static const char status[] = "**Status.**";
    char line[4096];
    bool has_title = fgets(line, sizeof line, in) == NULL || strncmp(line, "# ", 2) == 0;
    bool has_status = feof(in);  // nothing is lost with an empty file
    while (!has_status && has_title && fgets(line, sizeof line, in) != NULL) {
        has_status = strncmp(line, status, strlen(status)) == 0;
    }
    return has_title && has_status;
}

void experiment_options_check_record(const char *path, bool overwrites)
{
    FILE *in = path != NULL && !overwrites ? fopen(path, "re") : NULL;
    if (in == NULL) {
        return;
    }
    if (!is_record(in) && !ferror(in)) {
        experiment_refuse("%s is there already and is no record. Give --force to overwrite it, or "
                          "--markdown=FILE.",
                          path);
    }
    (void)fclose(in);
}

void experiment_options_add(const char *option, struct experiment_list *list, char *word)
{
    if (list->count == EXPERIMENT_LIST_MOST) {
        experiment_refuse("%s: more than %d of them.", option, EXPERIMENT_LIST_MOST);
    }
    list->words[list->count++] = word;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct experiment_options *options = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        options->words = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case OPTION_WORKLOAD:
        options->workload = argument;
        return 0;
    case OPTION_ENV:
        experiment_options_add("--env", &options->variables, argument);
        return 0;
    case OPTION_CORE:
        options->core = (int)experiment_options_number("--core", argument, 0, INT_MAX);
        return 0;
    case OPTION_NO_PIN:
        options->is_pinned = false;
        return 0;
    case OPTION_PROGRESS:
        options->shows_progress = true;
        return 0;
    case OPTION_SEED:
        options->seed = experiment_options_number("--seed", argument, 0, UINT64_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void experiment_options_start(struct experiment_options *options, char **argv)
{
    // Another order each time, so that its luck isn't repeated; it is told and can be given again.
    uint32_t random = 0;
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    *options = (struct experiment_options){
        .argv = argv, .seed = random, .is_pinned = true, .core = EXPERIMENT_CORE_CHOSEN};
}

// A setting that is handed on must be one.
static void check_variables(const struct experiment_list *variables)
{
    for (size_t i = 0; i < variables->count; i++) {
        if (experiment_environment_is_setting(variables->words[i]) &&
            !settings_know(variables->words[i])) {
            exit(EXIT_WRONG_USAGE);
        }
    }
}

void experiment_options_check_settings(const struct experiment_options *options)
{
    check_variables(&options->variables);
    if (!options->is_pinned && options->core != EXPERIMENT_CORE_CHOSEN) {
        experiment_refuse("--core and --no-pin contradict each other. Give one of them.");
    }
}

void experiment_options_check(const struct experiment_options *options)
{
    if (options->workload == NULL && options->words == NULL) {
        experiment_refuse(
            "There is nothing to run. Name a program after --, or give --workload mixed.");
    }
    if (options->workload != NULL && options->words != NULL) {
        experiment_refuse(
            "--workload and a program after -- are two things to run. Give one of them.");
    }
    experiment_options_check_settings(options);
}

const struct argp experiment_options_argp = {.options = option_table, .parser = parse_option};

void experiment_options_run(const struct argp *argp, int argc, char **argv, void *input)
{
    if (argp_parse(argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, input) != 0) {
        exit(EXIT_WRONG_USAGE);
    }
}

void experiment_options_parse(int argc, char **argv, const struct argp_option *own,
                              argp_parser_t parser, void *input)
{
    const struct argp_child children[] = {{&experiment_options_argp, 0, NULL, 0},
                                          {NULL, 0, NULL, 0}};
    const struct argp argp = {.options = own, .parser = parser, .children = children};
    experiment_options_run(&argp, argc, argv, input);
}

void experiment_options_help(const char *help)
{
    (void)fputs(help, stdout);
    exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_TOOL_FAILED);
}

void experiment_options_check_outputs(bool prints_json, bool prints_record)
{
    if (prints_json && prints_record) {
        experiment_refuse(
            "--json and --markdown would both go to standard output. Give --markdown=FILE.");
    }
}

int experiment_options_find_core(const struct experiment_options *options, int *core)
{
    *core = RUN_CORE_ANY;
    if (!options->is_pinned) {
        return EXIT_SUCCESS;
    }
    *core = options->core != EXPERIMENT_CORE_CHOSEN ? options->core : experiment_choose_core();
    if (!experiment_has_core(*core)) {
        talk_say("--core %d is not a core that this process may run on.", *core);
        return EXIT_WRONG_USAGE;
    }
    return EXIT_SUCCESS;
}

int experiment_options_find_program(const struct experiment_options *options,
                                    struct experiment_workload *workload, char ***words)
{
    *words = options->words;
    if (options->workload == NULL) {
        return EXIT_SUCCESS;
    }
    *words = workload->words;
    return experiment_workload_find(options->workload, workload);
}

int experiment_options_find_measure(const struct experiment_options *options, const char *text,
                                    bool lower_is_better, struct experiment_measure *measure)
{
    const char *usual = options->workload != NULL ? "throughput" : "time";
    if (!experiment_measure_read(measure, text != NULL ? text : usual)) {
        return EXIT_WRONG_USAGE;
    }
    if (lower_is_better) {
        measure->lower_is_better = true;
    }
    return EXIT_SUCCESS;
}

bool experiment_options_can_preload(const char *program)
{
    struct program_file file;
    int error = program_file_resolve(program, &file);
    if (error == ENOENT) {
        talk_say("%s was not found.", program);
        return false;
    }
    if (error == 0 && program_file_obstacle(&file) != NULL) {
        talk_say("%s runs without hakmem: %s.", file.path, program_file_obstacle(&file));
        return false;
    }
    return true;
}
