// What the tool says to people: whole sentences on standard error.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_TALK_H
#define HAK_CLI_TALK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// One line, with "hakmem: " before it.
void talk_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// A byte count rounded for reading: "3.2 MiB".  `text` is what it is written to, and returned.
enum {
    TALK_SIZE_BYTES = 32
};
const char *talk_size(char text[TALK_SIZE_BYTES], uint64_t bytes);

#endif
