// What `hakmem ab` found out, and the ways to tell it.
// Layer: cli.  Needs: ab_options, experiment.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_AB_REPORT_H
#define HAK_CLI_AB_REPORT_H

#include "ab_options.h"
#include "experiment.h"
#include "experiment_environment.h"

#include <stdio.h>

enum {
    AB_SIDE_A,
    AB_SIDE_B,
    AB_SIDE_CONTROL,  // A once more
    AB_SIDE_COUNT,

    AB_VERDICT_COUNT = ABTEST_UNDECIDED + 1,
    AB_MACHINE_BYTES = 512,
    AB_SENTENCE_BYTES = 1024,
};

// One B against one A.
struct ab_comparison {
    struct experiment_side sides[AB_SIDE_COUNT];
    char texts[AB_SIDE_COUNT][ENVIRONMENT_TEXT_BYTES];  // their settings
    size_t round_count;
    double error_rate;  // of its last look
    struct abtest_result result;
};

struct ab_report {
    const struct ab_options *options;
    const struct experiment_measure *measure;
    char **words;  // the program
    int core;      // RUN_CORE_ANY: not pinned
    char version[64];
    char machine[AB_MACHINE_BYTES];
    size_t run_count;     // all of them proven to have run on hakmem
    size_t thread_count;  // the most that allocated in one run
    struct ab_comparison *comparisons;
    size_t comparison_count;
    bool is_promoted;  // the preset has it
};

// Processor, cores, kernel, system and load, in one line.
void ab_machine_describe(char text[AB_MACHINE_BYTES]);

// Judges one comparison by its figures, at its error rate.
void ab_judge_comparison(struct ab_comparison *comparison, const struct experiment_measure *measure,
                         uint64_t seed);

// Judges all comparisons; several together by Holm's steps.
void ab_judge(struct ab_report *report);

// The words of a verdict, what was found (its length is returned), and with it what that means and
// what to do.
const char *ab_words_memo(enum abtest_memo memo);
const char *ab_words_evidence(enum abtest_evidence evidence);
const char *ab_words_verdict(enum abtest_verdict verdict);
int ab_words_find(const struct ab_comparison *comparison, char text[AB_SENTENCE_BYTES]);
void ab_words_conclude(const struct ab_comparison *comparison, char sentence[AB_SENTENCE_BYTES]);
// "95 %"
enum {
    AB_LEVEL_BYTES = 16
};
const char *ab_words_level(double error_rate, char text[AB_LEVEL_BYTES]);

// The program with its arguments, and the whole command, as a shell takes them.
void ab_words_write_program(FILE *out, const struct ab_report *report);
void ab_words_write_command(FILE *out, const struct ab_report *report);

// For people, on a terminal.
void ab_table_print(FILE *out, const struct ab_report *report);

// In the form of docs/analysis/.
void ab_record_print(FILE *out, const struct ab_report *report);

// Returns an exit status.
int ab_json_print(const struct ab_report *report);

#endif
