// `hakmem doctor`: whether hakmem works on this system and for a program.
// SPDX-License-Identifier: MIT
#include "command.h"
#include "doctor_report.h"

#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char help[] =
    "Tells whether hakmem can be preloaded here, whether PROGRAM would run on it, and what in the "
    "settings and in this system stands in the way. PROGRAM is looked at, not started.\v"
    "Each line is ok, a note, or a problem with what to do. The exit status is 1 when there is a "
    "problem.";

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    char **program = state->input;
    if (key != ARGP_KEY_ARG) {
        return ARGP_ERR_UNKNOWN;
    }
    *program = argument;
    state->next = state->argc;
    return 0;
}

void doctor_say(struct doctor_report *report, enum finding finding, const char *format, ...)
{
    static const char *const words[] = {"ok     ", "note   ", "problem"};
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};
    if (report->has_colour) {
        (void)printf("%s%s\033[0m  ", colours[finding], words[finding]);
    } else {
        (void)printf("%s  ", words[finding]);
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    (void)putchar('\n');
    report->problem_count += finding == FINDING_PROBLEM;
}

int doctor_command(int argc, char **argv)
{
    const struct argp argp = {.parser = parse_option, .args_doc = "[-- PROGRAM]", .doc = help};
    char *program = NULL;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &program) != 0) {
        return EXIT_WRONG_USAGE;
    }
    struct doctor_report report = {.has_colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR")};
    doctor_check_library(&report);
    if (program != NULL) {
        doctor_check_program(&report, program);
    }
    doctor_check_settings(&report);
    doctor_check_huge_pages(&report);
    doctor_check_overcommit(&report);
    doctor_check_map_count(&report);
    doctor_check_address_limit(&report);
    doctor_check_cgroup(&report);
    return report.problem_count > 0 ? EXIT_TOOL_FAILED : EXIT_SUCCESS;
}
