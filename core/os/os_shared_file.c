// SPDX-License-Identifier: MIT
#include "os/os_shared_file.h"

#include "os/syscall.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    OWNER_ONLY = 0600
};

static void *size_and_map(long file, size_t bytes)
{
    if (os_syscall(SYS_ftruncate, file, (long)bytes, 0, 0, 0, 0) < 0) {
        return NULL;
    }
    long address =
        os_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

// O_EXCL: nobody else's file is ever opened, nor what a symbolic link names.
void *os_share_file(const char *path, size_t bytes)
{
    os_remove_file(path);
    long file = os_syscall(SYS_openat, AT_FDCWD, (long)path,
                           O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OWNER_ONLY, 0, 0);
    if (file < 0) {
        return NULL;
    }
    void *shared = size_and_map(file, bytes);
    os_syscall(SYS_close, file, 0, 0, 0, 0, 0);
    if (shared == NULL) {
        os_remove_file(path);
    }
    return shared;
}

void os_remove_file(const char *path)
{
    os_syscall(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}
