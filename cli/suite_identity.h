// What exactly ran: version, size and hash of a file.
// Layer: cli.  Needs: experiment_run, near_file, talk.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_SUITE_IDENTITY_H
#define HAK_CLI_SUITE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SUITE_HASH_BYTES = 65
};

struct suite_identity {
    char version[64];  // as the allocator tells it to a program of ours; "" when it doesn't
    bool is_hakmem;
    size_t file_bytes;
    char sha256[SUITE_HASH_BYTES];  // "" when there is no sha256sum
};

// Of the file at `path`.
void suite_identity_hash(const char *path, struct suite_identity *identity);

// Of the allocator that `environment` preloads: version, and whether it is hakmem.
void suite_identity_ask(char **environment, struct suite_identity *identity);

#endif
