// The process: its start data, its last words.
// Layer: os.  Needs: base.
// SPDX-License-Identifier: MIT
#ifndef HAK_OS_OS_PROCESS_H
#define HAK_OS_OS_PROCESS_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// True for setuid programs and their like, which must not listen to their caller's environment.
bool os_is_secure_execution(void);

// The environment as it is now, NULL before libc's start; getenv is not used, it can be interposed.
char *const *os_environment(void);

// 64 random bits that the kernel gave this process at start; no system call, and libc is asked once.
uint64_t os_random_seed(void);

int os_process_id(void);

void os_write_error(const char *text, size_t bytes);

// Appends to a file in one write, creating it readable for its owner only.  0 or an errno value.
int os_append_file(const char *path, const char *text, size_t bytes);

// Reads at most `capacity` bytes of a file, without waiting for any; the length, or -1.
long os_read_file(const char *path, char *text, size_t capacity);

// The one fatal exit.  Writes "hakmem: <sentence>" as one line and aborts; where threads come here
// together, one of them writes.
HAK_COLD _Noreturn void die(const char *sentence);

// The program broke the rules of malloc: "hakmem: <fault> of 0x..., <rest>", and aborts.
// block_bytes 0: "which is not a block".
HAK_COLD _Noreturn void die_misuse(const char *fault, const void *pointer, size_t block_bytes);

// "hakmem: free with size 40 of 0x..., a 24-byte block", and aborts.
HAK_COLD _Noreturn void die_wrong_size(const void *pointer, size_t given_bytes, size_t block_bytes);

// "hakmem: operator delete of 0x..., a 24-byte block, from malloc", and aborts.
HAK_COLD _Noreturn void die_wrong_kind(const char *free_name, const void *pointer,
                                       size_t block_bytes, const char *take_name);

// "hakmem: free block 0x... was written after it was freed, a 48-byte block", and aborts.
HAK_COLD _Noreturn void die_damaged(const void *block, size_t block_bytes);

#endif
