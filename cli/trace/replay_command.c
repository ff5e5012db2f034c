// `hakmem replay`: a recorded program on several allocators in turns.
// SPDX-License-Identifier: MIT
#include "ab_output.h"
#include "command.h"
#include "compare_run.h"
#include "near_file.h"
#include "replay_options.h"
#include "talk.h"
#include "trace_file.h"
#include "trace_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char replayer_name[] = "bench_replay";

static int write_plan(const struct replay_options *options, const struct trace *trace)
{
    struct ab_output output;
    if (!ab_output_open(&output, options->plan_path)) {
        return EXIT_TOOL_FAILED;
    }
    if (!trace_plan_write(trace, fileno(output.file))) {
        ab_output_abandon(&output);
        return EXIT_TOOL_FAILED;
    }
    return ab_output_commit(&output) ? EXIT_SUCCESS : EXIT_TOOL_FAILED;
}

static void add_word(char **words, char *word)
{
    while (*words != NULL) {
        words++;
    }
    *words = word[0] != '\0' ? word : NULL;
}

// The plan lies in a file in memory that this process holds open, so that nothing is left behind
// however it ends.
static int run_plan(struct replay_options *options, int plan)
{
    char plan_path[64];
    char replayer[PATH_MAX];
    char *words[] = {replayer_name, options->trace, NULL, NULL, NULL};
    char *run_words[] = {replayer, plan_path, NULL, NULL, NULL};
    add_word(words, options->times);
    add_word(words, options->touch);
    memcpy(run_words + 2, words + 2, 2 * sizeof words[0]);
    if (!near_file_find("bench", replayer_name, replayer)) {
        talk_say("%s was not found near this command. Build or install hakmem whole.",
                 replayer_name);
        return EXIT_TOOL_FAILED;
    }
    (void)snprintf(plan_path, sizeof plan_path, "/proc/%d/fd/%d", (int)getpid(), plan);
    return compare_run(&options->compare, words, run_words);
}

static int replay(struct replay_options *options, struct trace *trace)
{
    struct experiment_options *common = &options->compare.common;
    if (trace->thread_count > 1 && common->core == EXPERIMENT_CORE_CHOSEN) {
        common->is_pinned = false;
    }
    if (options->plan_path != NULL) {
        return write_plan(options, trace);
    }
    int plan = memfd_create("plan", MFD_CLOEXEC);
    if (plan < 0) {
        talk_say("No file in memory could be made: %s.", strerror(errno));
        return EXIT_TOOL_FAILED;
    }
    bool is_written = trace_plan_write(trace, plan);
    trace_file_drop(trace);
    int status = is_written ? run_plan(options, plan) : EXIT_TOOL_FAILED;
    (void)close(plan);
    return status;
}

int replay_command(int argc, char **argv)
{
    struct replay_options options;
    struct trace trace;
    replay_options_read(argc, argv, &options);
    if (!trace_file_read(options.trace, &trace)) {
        return EXIT_WRONG_USAGE;
    }
    int status = replay(&options, &trace);
    trace_file_drop(&trace);
    return status;
}
