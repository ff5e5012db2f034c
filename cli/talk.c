// SPDX-License-Identifier: MIT
#include "talk.h"

#include <stdarg.h>

void talk_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("hakmem: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

const char *talk_size(char text[TALK_SIZE_BYTES], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit_index = 0;
    double amount = (double)bytes;
    while (amount >= 1024 && unit_index + 1 < sizeof units / sizeof units[0]) {
        amount /= 1024;
        unit_index++;
    }
    int digit_count = unit_index == 0 || amount >= 100 ? 0 : 1;
    (void)snprintf(text, TALK_SIZE_BYTES, "%.*f %s", digit_count, amount, units[unit_index]);
    return text;
}
