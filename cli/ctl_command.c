// `hakmem ctl`: changes settings of a program that is running.
// SPDX-License-Identifier: MIT
#include "command.h"
#include "control_file.h"
#include "settings.h"
#include "talk.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ctl_options {
    double wait_seconds;
    long pid;
    char **settings;
    int setting_count;
};

static void read_wait(struct ctl_options *options, const char *text, struct argp_state *state)
{
    char *end = NULL;
    options->wait_seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(options->wait_seconds >= 0)) {
        argp_error(state, "--wait %s is not a number of seconds.", text);
    }
}

static void read_pid(struct ctl_options *options, const char *text, struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    options->pid = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || options->pid <= 0) {
        argp_error(state, "%s is not a process number.", text);
    }
}

static error_t read_option(int key, char *text, struct argp_state *state)
{
    struct ctl_options *options = state->input;
    switch (key) {
    case 'w':
        read_wait(options, text, state);
        return 0;
    case ARGP_KEY_ARG:
        read_pid(options, text, state);
        options->settings = &state->argv[state->next];
        options->setting_count = state->argc - state->next;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (options->setting_count == 0) {
            argp_error(state, "Give a process and a setting, e.g. 1234 dirty_limit=16MiB.");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int set_one(struct control_page *page, const struct ctl_options *options,
                   const char *setting)
{
    enum gate_id id;
    const char *value = NULL;
    if (!settings_read_live(setting, &id, &value)) {
        return EXIT_WRONG_USAGE;
    }
    switch (control_file_ask(page, gate_table[id].env, value, options->wait_seconds)) {
    case CONTROL_DONE:
        return EXIT_SUCCESS;
    case CONTROL_REFUSED:
        talk_say("The program refused %s: %s. Is its hakmem another version?", setting,
                 strerror(page->status));
        return EXIT_TOOL_FAILED;
    default:
        talk_say(
            "No answer in %g seconds: the program looks when a thread of it needs fresh blocks. "
            "It will set %s then.",
            options->wait_seconds, setting);
        return EXIT_TOOL_FAILED;
    }
}

// All settings are looked at before the first is sent.
static bool are_settings_right(const struct ctl_options *options)
{
    bool are_right = true;
    for (int i = 0; i < options->setting_count; i++) {
        enum gate_id id;
        const char *value = NULL;
        are_right = settings_read_live(options->settings[i], &id, &value) && are_right;
    }
    return are_right;
}

int ctl_command(int argc, char **argv)
{
    static const struct argp_option options_table[] = {
        {"wait", 'w', "SECONDS", 0, "wait so long for the program's answer (default 2)", 0}, {0}};
    const struct argp argp = {
        .options = options_table,
        .parser = read_option,
        .args_doc = "PID GATE=VALUE...",
        .doc = "Changes settings of a program that is running.\vThe program must have been started "
               "with HAKMEM_CONTROL=DIRECTORY (`hakmem run --set control=DIRECTORY`), by the same "
               "user. `hakmem gates` says which settings can be changed while a program runs."};
    struct ctl_options options = {.wait_seconds = 2};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0 || !are_settings_right(&options)) {
        return EXIT_WRONG_USAGE;
    }
    struct control_page *page = control_file_open((pid_t)options.pid);
    int status = page != NULL ? EXIT_SUCCESS : EXIT_TOOL_FAILED;
    for (int i = 0; i < options.setting_count && status == EXIT_SUCCESS; i++) {
        status = set_one(page, &options, options.settings[i]);
    }
    return status;
}
