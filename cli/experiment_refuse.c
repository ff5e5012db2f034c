// SPDX-License-Identifier: MIT
#include "experiment_refuse.h"

#include "command.h"
#include "talk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void experiment_refuse(const char *format, ...)
{
    char *sentence = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&sentence, format, arguments);
    va_end(arguments);
    talk_say("%s", length >= 0 ? sentence : format);
    exit(EXIT_WRONG_USAGE);
}
