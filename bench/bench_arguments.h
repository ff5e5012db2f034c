// The command line of a workload, from one table: the parser, --help and the report all read it.
// SPDX-License-Identifier: MIT
#ifndef HAK_BENCH_ARGUMENTS_H
#define HAK_BENCH_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_argument_kind {
    BENCH_NUMBER,  // a whole number, a unit of KiB, MiB or GiB allowed
    BENCH_CHOICE,  // one of the words in `choices`
    BENCH_FLAG,    // stands alone
    BENCH_FILE,    // the name of a file, which must be there
};

// A name that starts with "--" is an option; the others are positional, in the order of the table.
struct bench_argument {
    const char *name;
    const char *help;
    enum bench_argument_kind kind;
    bool is_given;
    uint64_t value;    // first the default, then what was given; of a choice, the word's number
    uint64_t minimum;  // of a number
    uint64_t maximum;
    const char *const *choices;  // words, ended by NULL
    const char *text;            // the name of a file
};

// Rows that several workloads have, with the default of each.
#define BENCH_SEED_ROW(first)                                                                      \
    {                                                                                              \
        .name = "seed", .help = "start of the random numbers", .value = (first), .minimum = 1,     \
        .maximum = UINT32_MAX                                                                      \
    }
#define BENCH_THREADS_ROW(count)                                                                   \
    {                                                                                              \
        .name = "threads", .help = "threads", .value = (count), .minimum = 1, .maximum = 1024      \
    }
#define BENCH_MIN_ROW(bytes)                                                                       \
    {                                                                                              \
        .name = "min", .help = "bytes of the smallest block", .value = (bytes), .minimum = 1,      \
        .maximum = 1 << 20                                                                         \
    }
#define BENCH_MAX_ROW(bytes)                                                                       \
    {                                                                                              \
        .name = "max", .help = "bytes of the largest block", .value = (bytes), .minimum = 1,       \
        .maximum = 1 << 20                                                                         \
    }

struct bench_program {
    const char *name;
    const char *summary;
    struct bench_argument *arguments;
    size_t argument_count;
    bool wants_json;
};

// Reads the command line into the table.  Knows --json and --help by itself; --help ends the
// program with status 0, a wrong argument ends it with one sentence and status 2.
void bench_arguments_read(struct bench_program *program, int argc, char **argv);

// Ends the program with status 2 and one sentence: for rules between arguments.
_Noreturn void bench_arguments_refuse(const struct bench_program *program, const char *sentence);

// Writes "cycles=100 ws=8 --c6" into text: what is in force, options only when given.
void bench_arguments_describe(const struct bench_program *program, char *text, size_t text_bytes);

#endif
