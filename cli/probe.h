// Starts this command once more under the preload, to see whether its memory comes from hakmem.
// Layer: cli.  Needs: library, core's public header.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_PROBE_H
#define HAK_CLI_PROBE_H

#include <stdbool.h>

enum {
    PROBE_TEXT_BYTES = 512
};

struct probe_result {
    bool is_loaded;  // the library was there
    bool is_owner;   // and a block of malloc came from it
    char version[64];
    char message[PROBE_TEXT_BYTES];  // what the loader said, or ""
};

// Returns true when the library at `path` is loaded and serves malloc.
bool probe_run(const char *path, struct probe_result *result);

#endif
