// The lines that `hakmem doctor` prints: one finding each.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_DOCTOR_REPORT_H
#define HAK_CLI_DOCTOR_REPORT_H

#include <stdbool.h>

enum finding {
    FINDING_OK,
    FINDING_NOTE,
    FINDING_PROBLEM
};

struct doctor_report {
    unsigned problem_count;
    bool has_colour;
};

// Prints one line on standard output and counts it if it is a problem.
void doctor_say(struct doctor_report *report, enum finding finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Each examines one thing and says what it found.
void doctor_check_library(struct doctor_report *report);
void doctor_check_settings(struct doctor_report *report);
void doctor_check_program(struct doctor_report *report, const char *program);
void doctor_check_huge_pages(struct doctor_report *report);
void doctor_check_overcommit(struct doctor_report *report);
void doctor_check_map_count(struct doctor_report *report);
void doctor_check_address_limit(struct doctor_report *report);
void doctor_check_cgroup(struct doctor_report *report);

#endif
