// SPDX-License-Identifier: MIT
#include "experiment_measure.h"

#include "policy/gate_text.h"
#include "talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERN_NUMBER_GROUP = 1,  // of a user's own pattern

    THROUGHPUT_NUMBER_GROUP = 2,
    THROUGHPUT_SCALE_GROUP = 4,
    GROUP_COUNT = 5,

    DECIMALS_MOST = 9
};

// What stands before the number is looked at, so that 1,234 is not read as 234.
static const char throughput_pattern[] =
    "(^|[^0-9.,])([0-9][0-9.]*([eE][+-]?[0-9]+)?) *([kKMG]?) ?(ops|op|operations|requests|req)/s";

static const struct {
    const char *word;
    const char *unit;
    enum measure_kind kind;
    bool lower_is_better;
} plain_measures[] = {
    {"throughput", "ops/s", MEASURE_THROUGHPUT, false},
    {"time", "s", MEASURE_TIME, true},
    {"cpu", "s", MEASURE_CPU, true},
    {"rss", "MiB", MEASURE_RSS, true},
    {"faults", "", MEASURE_FAULTS, true},
};

static bool read_plain(struct experiment_measure *measure, const char *text)
{
    for (size_t i = 0; i < sizeof plain_measures / sizeof plain_measures[0]; i++) {
        if (strcmp(text, plain_measures[i].word) == 0) {
            measure->kind = plain_measures[i].kind;
            measure->unit = plain_measures[i].unit;
            measure->lower_is_better = plain_measures[i].lower_is_better;
            (void)snprintf(measure->name, sizeof measure->name, "%s", text);
            return true;
        }
    }
    return false;
}

static bool read_pattern(struct experiment_measure *measure, const char *text, const char *equals)
{
    int error = regcomp(&measure->pattern, equals + 1, REG_EXTENDED | REG_NEWLINE);
    if (error != 0) {
        char reason[128];
        (void)regerror(error, &measure->pattern, reason, sizeof reason);
        talk_say("--measure %s: the regular expression is wrong: %s.", text, reason);
        return false;
    }
    if (measure->pattern.re_nsub == 0) {
        regfree(&measure->pattern);
        talk_say("--measure %s has no group; put the figure in parentheses, e.g. "
                 "'latency=p99: ([0-9.]+) ms'.",
                 text);
        return false;
    }
    measure->kind = MEASURE_PATTERN;
    measure->unit = "";
    (void)snprintf(measure->name, sizeof measure->name, "%.*s", (int)(equals - text), text);
    return true;
}

bool experiment_measure_read(struct experiment_measure *measure, const char *text)
{
    const char *equals = strchr(text, '=');
    *measure = (struct experiment_measure){.kind = MEASURE_TIME};
    if (equals != NULL && equals != text) {
        return read_pattern(measure, text, equals);
    }
    if (!read_plain(measure, text)) {
        talk_say("--measure %s is not a measure. Give throughput, time, cpu, rss, faults, or "
                 "NAME=regex with "
                 "the figure in parentheses.",
                 text);
        return false;
    }
    if (measure->kind == MEASURE_THROUGHPUT) {
        (void)regcomp(&measure->pattern, throughput_pattern, REG_EXTENDED | REG_NEWLINE);
    }
    return true;
}

bool experiment_measure_needs_output(const struct experiment_measure *measure)
{
    return measure->kind == MEASURE_THROUGHPUT || measure->kind == MEASURE_PATTERN;
}

static double scale_of(char letter)
{
    switch (letter) {
    case 'k':
    case 'K':
        return 1e3;
    case 'M':
        return 1e6;
    case 'G':
        return 1e9;
    default:
        return 1;
    }
}

// False when the group is not wholly a number.
static bool read_number(const char *output, const regmatch_t *group, double *number)
{
    char *end = NULL;
    if (group->rm_so < 0) {
        return false;
    }
    *number = strtod(output + group->rm_so, &end);
    return end == output + group->rm_eo && group->rm_eo > group->rm_so;
}

static bool read_match(const struct experiment_measure *measure, const char *output,
                       const regmatch_t *groups, double *figure)
{
    if (measure->kind != MEASURE_THROUGHPUT) {
        return read_number(output, &groups[PATTERN_NUMBER_GROUP], figure);
    }
    bool is_number = read_number(output, &groups[THROUGHPUT_NUMBER_GROUP], figure);
    *figure *= scale_of(output[groups[THROUGHPUT_SCALE_GROUP].rm_so]);
    return is_number;
}

// Of the last match.
static bool read_printed(const struct experiment_measure *measure, const char *output,
                         double *figure)
{
    regmatch_t groups[GROUP_COUNT];
    bool is_found = false;
    int flags = 0;
    while (*output != '\0' && regexec(&measure->pattern, output, GROUP_COUNT, groups, flags) == 0) {
        is_found = read_match(measure, output, groups, figure);
        output += groups[0].rm_eo > 0 ? groups[0].rm_eo : 1;
        flags = output[-1] == '\n' ? 0 : REG_NOTBOL;
    }
    return is_found;
}

double experiment_measure_cost(const struct experiment_measure *measure,
                               const struct experiment_cost *cost)
{
    switch (measure->kind) {
    case MEASURE_CPU:
        return cost->cpu_seconds;
    case MEASURE_RSS:
        return cost->peak_mib;
    case MEASURE_FAULTS:
        return (double)cost->fault_count;
    default:
        return cost->wall_seconds;
    }
}

enum measure_finding experiment_measure_take(const struct experiment_measure *measure,
                                             const struct experiment_run *run, double *figure)
{
    if (!experiment_measure_needs_output(measure)) {
        *figure = experiment_measure_cost(measure, &run->cost);
    } else if (!read_printed(measure, run->output, figure)) {
        return MEASURE_MISSING;
    }
    return *figure > 0 && isfinite(*figure) ? MEASURE_TAKEN : MEASURE_UNUSABLE;
}

static size_t choose_scale(const struct experiment_measure *measure, double like)
{
    size_t scale = 0;
    if (measure->kind == MEASURE_THROUGHPUT) {
        while (scale < 3 && like >= 1000) {
            like /= 1000;
            scale++;
        }
    }
    return scale;
}

// All figures of a table get as many decimals as `like` needs for five digits.
const char *experiment_measure_format(const struct experiment_measure *measure, double figure,
                                      double like, char text[MEASURE_TEXT_BYTES])
{
    double unit = pow(1000, (double)choose_scale(measure, like));
    int digits_before = (int)floor(log10(like / unit)) + 1;
    int digits_after = 5 - digits_before;
    digits_after = digits_after < 0 ? 0 : digits_after;
    digits_after = digits_after > DECIMALS_MOST ? DECIMALS_MOST : digits_after;
    (void)snprintf(text, MEASURE_TEXT_BYTES, "%.*f", digits_after, figure / unit);
    return text;
}

const char *experiment_measure_unit(const struct experiment_measure *measure, double like,
                                    char text[MEASURE_TEXT_BYTES])
{
    static const char *const prefixes[] = {"", "k ", "M ", "G "};
    (void)snprintf(text, MEASURE_TEXT_BYTES, "%s%s", prefixes[choose_scale(measure, like)],
                   measure->unit);
    return text;
}
