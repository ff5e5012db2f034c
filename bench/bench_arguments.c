// SPDX-License-Identifier: MIT
#include "bench_arguments.h"

#include "bench_support.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_option(const char *name)
{
    return strncmp(name, "--", 2) == 0;
}

static void print_choices(FILE *stream, const struct bench_argument *argument)
{
    for (size_t word = 0; argument->choices[word] != NULL; word++) {
        bench_print(stream, "%s%s", word == 0 ? "" : ", ", argument->choices[word]);
    }
}

static _Noreturn void print_help(const struct bench_program *program)
{
    bench_print(stdout, "usage: %s", program->name);
    for (size_t index = 0; index < program->argument_count; index++) {
        const struct bench_argument *argument = &program->arguments[index];
        const char *value = is_option(argument->name) && argument->kind != BENCH_FLAG ? "=N" : "";
        bench_print(stdout, " [%s%s]", argument->name, value);
    }
    bench_print(stdout, " [--json]\n%s\n\n", program->summary);
    for (size_t index = 0; index < program->argument_count; index++) {
        const struct bench_argument *argument = &program->arguments[index];
        bench_print(stdout, "  %-16s %s", argument->name, argument->help);
        if (argument->kind == BENCH_CHOICE) {
            bench_print(stdout, ": ");
            print_choices(stdout, argument);
            bench_print(stdout, " (default %s)", argument->choices[argument->value]);
        } else if (argument->kind == BENCH_NUMBER) {
            bench_print(stdout, " (default %" PRIu64 ")", argument->value);
        }
        bench_print(stdout, "\n");
    }
    bench_print(stdout, "  %-16s %s\n", "--json",
                "print a second line: the result as one JSON object");
    bench_print(stdout, "  %-16s %s\n", "--help", "print this text");
    exit(0);
}

void bench_arguments_refuse(const struct bench_program *program, const char *sentence)
{
    bench_print(stderr, "%s: %s See --help.\n", program->name, sentence);
    exit(2);
}

static void refuse_value(const struct bench_program *program, const struct bench_argument *argument,
                         const char *text)
{
    bench_print(stderr, "%s: %s must be ", program->name, argument->name);
    if (argument->kind == BENCH_CHOICE) {
        bench_print(stderr, "one of ");
        print_choices(stderr, argument);
    } else if (argument->kind == BENCH_FILE) {
        bench_print(stderr, "a file that can be read");
    } else {
        bench_print(stderr, "a whole number from %" PRIu64 " to %" PRIu64, argument->minimum,
                    argument->maximum);
    }
    bench_print(stderr, ", not '%s'. See --help.\n", text);
    exit(2);
}

// The factor of a unit, or 0 when there is no such unit.
static uint64_t unit_factor(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {{"", 1},
                 {"KiB", UINT64_C(1) << 10},
                 {"MiB", UINT64_C(1) << 20},
                 {"GiB", UINT64_C(1) << 30}};
    for (size_t index = 0; index < sizeof(units) / sizeof(units[0]); index++) {
        if (strcmp(unit, units[index].name) == 0) {
            return units[index].factor;
        }
    }
    return 0;
}

static bool number_read(struct bench_argument *argument, const char *text)
{
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    char *unit = NULL;
    errno = 0;
    uint64_t number = strtoull(text, &unit, 10);
    uint64_t factor = unit_factor(unit);
    if (errno != 0 || factor == 0 || number > UINT64_MAX / factor) {
        return false;
    }
    argument->value = number * factor;
    return argument->value >= argument->minimum && argument->value <= argument->maximum;
}

static bool choice_read(struct bench_argument *argument, const char *text)
{
    for (size_t word = 0; argument->choices[word] != NULL; word++) {
        if (strcmp(text, argument->choices[word]) == 0) {
            argument->value = word;
            return true;
        }
    }
    return false;
}

static bool file_read(struct bench_argument *argument, const char *text)
{
    argument->text = text;
    return access(text, R_OK) == 0;
}

static void value_read(const struct bench_program *program, struct bench_argument *argument,
                       const char *text)
{
    bool is_good = argument->kind == BENCH_CHOICE ? choice_read(argument, text)
                   : argument->kind == BENCH_FILE ? file_read(argument, text)
                                                  : number_read(argument, text);
    if (!is_good) {
        refuse_value(program, argument, text);
    }
    argument->is_given = true;
}

// Reads "--name" or "--name=value".
static void option_read(struct bench_program *program, const char *text)
{
    const char *equals = strchr(text, '=');
    size_t name_length = equals != NULL ? (size_t)(equals - text) : strlen(text);
    for (size_t index = 0; index < program->argument_count; index++) {
        struct bench_argument *argument = &program->arguments[index];
        if (strlen(argument->name) != name_length ||
            memcmp(argument->name, text, name_length) != 0) {
            continue;
        }
        if (argument->kind != BENCH_FLAG) {
            value_read(program, argument, equals != NULL ? equals + 1 : "");
            return;
        }
        if (equals == NULL) {
            argument->value = 1;
            argument->is_given = true;
            return;
        }
    }
    bench_print(stderr, "%s: unknown option '%s'. See --help.\n", program->name, text);
    exit(2);
}

static struct bench_argument *next_positional(struct bench_program *program, size_t *index)
{
    while (*index < program->argument_count) {
        struct bench_argument *argument = &program->arguments[(*index)++];
        if (!is_option(argument->name)) {
            return argument;
        }
    }
    return NULL;
}

static void positional_read(struct bench_program *program, size_t *next_index, const char *text)
{
    struct bench_argument *argument = next_positional(program, next_index);
    if (argument == NULL) {
        bench_print(stderr, "%s: '%s' is one argument too many. See --help.\n", program->name,
                    text);
        exit(2);
    }
    value_read(program, argument, text);
}

static void word_read(struct bench_program *program, size_t *next_index, const char *text)
{
    if (strcmp(text, "--help") == 0) {
        print_help(program);
    }
    if (strcmp(text, "--json") == 0) {
        program->wants_json = true;
        return;
    }
    if (is_option(text)) {
        option_read(program, text);
        return;
    }
    positional_read(program, next_index, text);
}

void bench_arguments_read(struct bench_program *program, int argc, char **argv)
{
    size_t next_index = 0;
    for (int position = 1; position < argc; position++) {
        word_read(program, &next_index, argv[position]);
    }
}

void bench_arguments_describe(const struct bench_program *program, char *text, size_t text_bytes)
{
    FILE *stream = fmemopen(text, text_bytes, "w");
    if (stream == NULL) {
        bench_die("describing the arguments");
    }
    const char *separator = "";
    for (size_t index = 0; index < program->argument_count; index++) {
        const struct bench_argument *argument = &program->arguments[index];
        if (!argument->is_given && (is_option(argument->name) || argument->value == 0)) {
            continue;
        }
        bench_print(stream, "%s%s", separator, argument->name);
        if (argument->kind == BENCH_CHOICE) {
            bench_print(stream, "=%s", argument->choices[argument->value]);
        } else if (argument->kind == BENCH_NUMBER) {
            bench_print(stream, "=%" PRIu64, argument->value);
        } else if (argument->kind == BENCH_FILE) {
            bench_print(stream, "=%s", argument->text);
        }
        separator = " ";
    }
    if (fclose(stream) != 0) {
        bench_die("describing the arguments");
    }
}
