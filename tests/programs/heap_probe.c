// A second preloaded library that writes down, as a process ends, which heap it has used.
// SPDX-License-Identifier: MIT
//
// One line a process, appended to the file that HAK_HEAP_PROBE_FILE names:
//
//   <pid> <brk bytes> <glibc bytes> <hakmem mapped: 0 or 1> <hakmem's peak bytes> <hakmem's refills>
//   <peak RSS in KiB> <name>
//
// "brk bytes" is the size of the [heap] mapping.  "glibc bytes" is what glibc's own mallinfo2 says
// that its arenas and mapped blocks hold, or "-" where asking could hang.  Both stay 0 as long as no
// call reaches glibc's allocator.  hakmem's figures are those of hak_stats_read, 0 without hakmem.
// The probe allocates nothing while it looks, so that it changes none of them.
//
// Many programs leave by _exit, which runs no destructor (dash, the children of stress-ng and of
// redis), so that name is taken over too.  A child of vfork may come through here while it borrows
// its parent's memory: hence no static buffer is written and no "done" flag is kept.  A process
// may therefore write two lines; the last one of a pid is its last word.
#include "hakmem.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PATH_BYTES = 512,
    LINE_BYTES = 512,  // longer lines of /proc are cut: what is looked for stands at either end
    READ_BYTES = 2048,
};

typedef struct mallinfo2 mallinfo2_function(void);
typedef int stats_function(struct hak_stats *stats);
typedef bool owns_function(const void *address);

// Written once by the constructor, read-only from then on.
static struct {
    char path[PATH_BYTES];
    mallinfo2_function *glibc_mallinfo2;
    stats_function *hakmem_stats_read;  // NULL without hakmem
    owns_function *hakmem_owns;         // likewise
} probe;

struct heap_report {
    size_t brk_bytes;
    size_t peak_rss_kib;
    bool has_hakmem;
    char name[32];
};

typedef void line_visitor(const char *line, struct heap_report *report);

// Calls `visit` for each line of the file `path`.
static void visit_lines(const char *path, line_visitor *visit, struct heap_report *report)
{
    char chunk[READ_BYTES];
    char line[LINE_BYTES];
    size_t length = 0;
    ssize_t got;
    int file;
    // A server that is told to end gets signals while it does.
    do {
        file = open(path, O_RDONLY | O_CLOEXEC);
    } while (file < 0 && errno == EINTR);
    if (file < 0) {
        return;
    }
    while ((got = read(file, chunk, sizeof(chunk))) > 0 || (got < 0 && errno == EINTR)) {
        for (ssize_t i = 0; i < got; i++) {  // none when a signal came
            if (chunk[i] == '\n') {
                line[length] = '\0';
                visit(line, report);
                length = 0;
            } else if (length < sizeof(line) - 1) {
                line[length++] = chunk[i];
            }
        }
    }
    (void)close(file);
}

// Asked when the maps don't show the library: they are read in pieces, while other threads change them,
// and can't be read at all where descriptors are out.
static bool hakmem_serves(void)
{
    void *block = malloc(sizeof(int));
    bool is_served = probe.hakmem_owns != NULL && probe.hakmem_owns(block);
    free(block);
    return is_served;
}

static void visit_map(const char *line, struct heap_report *report)
{
    if (strstr(line, "/libhakmem") != NULL) {
        report->has_hakmem = true;
    }
    if (strstr(line, "[heap]") != NULL) {
        char *dash = NULL;
        size_t start = strtoul(line, &dash, 16);
        report->brk_bytes += strtoul(dash + 1, NULL, 16) - start;
    }
}

static void visit_status(const char *line, struct heap_report *report)
{
    static const char peak_label[] = "VmHWM:";
    static const char name_label[] = "Name:\t";
    if (strncmp(line, peak_label, sizeof(peak_label) - 1) == 0) {
        report->peak_rss_kib = strtoul(line + sizeof(peak_label) - 1, NULL, 10);
    }
    if (strncmp(line, name_label, sizeof(name_label) - 1) == 0) {
        strncpy(report->name, line + sizeof(name_label) - 1, sizeof(report->name) - 1);
    }
}

// `can_ask` is false where glibc's arena locks may be held by a thread that will not run again.
static void write_report(bool can_ask)
{
    struct heap_report report = {.name = ""};
    struct hak_stats stats = {.struct_bytes = sizeof(stats)};
    char line[LINE_BYTES];
    char glibc_bytes[32] = "-";
    if (probe.path[0] == '\0') {
        return;
    }
    visit_lines("/proc/self/maps", visit_map, &report);
    report.has_hakmem = report.has_hakmem || hakmem_serves();
    visit_lines("/proc/self/status", visit_status, &report);
    // With hakmem in place nobody takes those locks, unless something is wrong.
    if (probe.glibc_mallinfo2 != NULL && (can_ask || report.has_hakmem)) {
        struct mallinfo2 info = probe.glibc_mallinfo2();
        (void)snprintf(glibc_bytes, sizeof(glibc_bytes), "%zu", info.arena + info.hblkhd);
    }
    if (probe.hakmem_stats_read != NULL) {
        (void)probe.hakmem_stats_read(&stats);
    }
    int length =
        snprintf(line, sizeof(line), "%ld %zu %s %d %zu %zu %zu %s\n", (long)getpid(),
                 report.brk_bytes, glibc_bytes, report.has_hakmem, stats.peak_committed_bytes,
                 stats.refill_count, report.peak_rss_kib, report.name);
    int file = open(probe.path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file >= 0) {
        ssize_t written = write(file, line, (size_t)length);
        (void)written;  // a lost line is found by the script that reads the file
        (void)close(file);
    }
}

__attribute__((constructor)) static void probe_init(void)
{
    const char *path = getenv("HAK_HEAP_PROBE_FILE");
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (path == NULL || strlen(path) >= sizeof(probe.path) || libc == NULL) {
        return;
    }
    strcpy(probe.path, path);
    // By the handle, not by RTLD_NEXT: a preloaded allocator has a mallinfo2 of its own.
    probe.glibc_mallinfo2 = (mallinfo2_function *)dlsym(libc, "mallinfo2");
    probe.hakmem_stats_read = (stats_function *)dlsym(RTLD_DEFAULT, "hak_stats_read");
    probe.hakmem_owns = (owns_function *)dlsym(RTLD_DEFAULT, "hak_owns");
}

__attribute__((destructor)) static void probe_fini(void)
{
    write_report(true);
}

__attribute__((visibility("default"), noreturn)) void _exit(int status);
__attribute__((visibility("default"), noreturn)) void _Exit(int status);

void _exit(int status)
{
    write_report(false);
    (void)syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

void _Exit(int status)
{
    _exit(status);
}
