// SPDX-License-Identifier: MIT
#include "run_self.h"

#include "test_check.h"

#include <stdio.h>

enum {
    COMMAND_BYTES = 1024
};

size_t run_self_for_number(const char *program, const char *argument, const char *settings)
{
    char command[COMMAND_BYTES];
    size_t number = 0;
    int length = snprintf(command, sizeof command, "%s exec '%s' %s", settings, program, argument);
    REQUIRE(length < COMMAND_BYTES);
    FILE *output = popen(command, "r");
    REQUIRE(output != NULL);
    REQUIRE(fscanf(output, "%zu", &number) == 1);
    REQUIRE(pclose(output) == 0);
    return number;
}
