// The hakmem command: finds the subcommand and lets it do the work.
// SPDX-License-Identifier: MIT
#include "command.h"
#include "policy/gate_text.h"
#include "talk.h"

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct subcommand {
    const char *name;
    const char *full_name;  // what its messages begin with
    int (*start)(int argc, char **argv);
    const char *help;  // NULL: not for users
};

static const struct subcommand subcommands[] = {
    {"run", "hakmem run", run_command, "run a program with hakmem as its allocator"},
    {"ab", "hakmem ab", ab_command, "tell whether a setting helps a program"},
    {"compare", "hakmem compare", compare_command, "tell what allocators cost a program"},
    {"bench", "hakmem bench", bench_command, "run the workloads of the suite on allocators"},
    {"record", "hakmem record", record_command, "write a program's allocations into a file"},
    {"replay", "hakmem replay", replay_command, "tell what allocators cost a recorded program"},
    {"tune", "hakmem tune", tune_command, "look for settings that help a program"},
    {"ctl", "hakmem ctl", ctl_command, "change a setting of a program that is running"},
    {"doctor", "hakmem doctor", doctor_command, "tell whether hakmem works here and for a program"},
    {"gates", "hakmem gates", gates_command, "list the settings"},
    {"profiles", "hakmem profiles", profiles_command, "list the named sets of settings"},
    {"version", "hakmem version", version_command, "tell the versions of command and library"},
    {"probe", "hakmem probe", probe_command, NULL},
    {"probe-gates", "hakmem probe-gates", probe_gates_command, NULL},
};

enum {
    SUBCOMMAND_COUNT = sizeof subcommands / sizeof subcommands[0]
};

static const struct subcommand *find_subcommand(const char *name)
{
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(subcommands[i].name, name) == 0) {
            return &subcommands[i];
        }
    }
    return NULL;
}

static void print_help(FILE *out)
{
    (void)fputs("Usage: hakmem COMMAND [OPTION...]\n"
                "Runs programs on the memory allocator hakmem.\n\nCommands:\n",
                out);
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (subcommands[i].help != NULL) {
            (void)fprintf(out, "  %-10s %s\n", subcommands[i].name, subcommands[i].help);
        }
    }
    (void)fputs("  help       show this, or with a command's name its own help\n\n"
                "Examples:\n"
                "  hakmem run --profile lean --stats -- python3 job.py\n"
                "  hakmem ab --a bin_bytes=64KiB --b bin_bytes=256KiB -- python3 job.py\n"
                "\n"
                "Exit status: 0 it ran, 1 hakmem failed, 2 wrong usage; under `run` the program's\n"
                "own, or 126 and 127 when it could not be started.  See also: man hakmem.\n",
                out);
}

static int refuse_command(const char *name)
{
    const char *nearest = NULL;
    unsigned least_distance = SLICE_FAR;
    for (size_t i = 0; i < SUBCOMMAND_COUNT; i++) {
        unsigned distance = slice_distance(slice_of(name), subcommands[i].name);
        if (subcommands[i].help != NULL && distance < least_distance) {
            least_distance = distance;
            nearest = subcommands[i].name;
        }
    }
    if (nearest != NULL) {
        talk_say("%s is not a command. Did you mean %s?", name, nearest);
    } else {
        talk_say("%s is not a command. `hakmem help` lists them; to run a program, write "
                 "`hakmem run -- PROGRAM`.",
                 name);
    }
    return EXIT_WRONG_USAGE;
}

// argp prints argv[0] in its messages, so that becomes the full name of the subcommand.
static int start_subcommand(const struct subcommand *subcommand, int argc, char **argv)
{
    char full_name[32];
    (void)snprintf(full_name, sizeof full_name, "%s", subcommand->full_name);
    argv[0] = full_name;
    argp_err_exit_status = EXIT_WRONG_USAGE;
    return subcommand->start(argc, argv);
}

static int start_help(const char *name)
{
    if (name == NULL) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    const struct subcommand *subcommand = find_subcommand(name);
    if (subcommand == NULL || subcommand->help == NULL) {
        return refuse_command(name);
    }
    char option[] = "--help";
    char *arguments[] = {NULL, option, NULL};
    return start_subcommand(subcommand, 2, arguments);
}

static int dispatch(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (name == NULL) {
        print_help(stderr);
        return EXIT_WRONG_USAGE;
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return start_help(argc > 2 ? argv[2] : NULL);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        name = "version";
    }
    const struct subcommand *subcommand = find_subcommand(name);
    if (subcommand == NULL) {
        return refuse_command(name);
    }
    return start_subcommand(subcommand, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int status = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        talk_say("The output could not be written.");
        return status == EXIT_SUCCESS ? EXIT_TOOL_FAILED : status;
    }
    return status;
}
