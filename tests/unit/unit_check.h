// What the unit tests share: cmocka's headers in the order that it needs, and tests of a death.
// SPDX-License-Identifier: MIT
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// For main, where the gates in force leave nothing to test: says why; returns the exit status.
int skip_program(const char *why);

typedef void unit_body(void *argument);

// Runs body(argument) in a forked child.  It must abort after writing the line `line` (without its
// line break) and nothing else to standard error.
void assert_dies(unit_body *body, void *argument, const char *line);

// The same for the messages that name a block: "hakmem: <fault> of 0x..., a <bytes>-byte block", or
// with `block_bytes` 0 "..., which is not a block".
void assert_dies_of(const char *fault, const void *pointer, size_t block_bytes, unit_body *body,
                    void *argument);
void assert_dies_damaged(const void *block, size_t block_bytes, unit_body *body, void *argument);

// Reads or writes one byte in a forked child, which must die of SIGSEGV.
void assert_faults(char *address);

// Does an emulator of user mode (qemu) run this program?  It answers some system calls otherwise than
// Linux; tests of those skip.
bool is_emulated(void);

// Is the page of `address` mapped?
bool is_mapped(const void *address);

// Runs body(argument) in `count` threads at once and waits for them; each has its own argument when
// `step_bytes` isn't 0.
void run_in_threads(unit_body *body, void *argument, size_t step_bytes, size_t count);

// The compiler warns of sizes that it knows to be too long.
static inline size_t hidden(size_t bytes)
{
    volatile size_t copy = bytes;
    return copy;
}

// Skips the rest of a test that this machine, or the one that os_machine.h simulates, can't run.
static inline void run_only_where(bool is_possible)
{
    if (!is_possible) {
        skip();
    }
}

bool is_filled_with(const void *memory, unsigned char value, size_t bytes);

#endif
