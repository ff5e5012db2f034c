// A file that this process shares with others through memory.
// Layer: os.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_OS_OS_SHARED_FILE_H
#define HAK_OS_OS_SHARED_FILE_H

#include <stddef.h>

// Makes a file of `bytes` zero bytes that only its owner may open, and maps it.  What has the name already
// is removed first: it was left by a process of the same number.  NULL where that fails.
void *os_share_file(const char *path, size_t bytes);

void os_remove_file(const char *path);

#endif
