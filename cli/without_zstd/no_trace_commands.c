// `hakmem record` and `hakmem replay` where there is no libzstd to read and write traces with.
// SPDX-License-Identifier: MIT
#include "command.h"
#include "talk.h"

static int refuse(void)
{
    talk_say("This hakmem was built without libzstd (Debian: libzstd-dev), which traces need.");
    return EXIT_TOOL_FAILED;
}

int record_command(int argc __attribute__((unused)), char **argv __attribute__((unused)))
{
    return refuse();
}

int replay_command(int argc __attribute__((unused)), char **argv __attribute__((unused)))
{
    return refuse();
}
