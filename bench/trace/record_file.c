// SPDX-License-Identifier: MIT
#include "record_file.h"

#include "trace_encode.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ZSTD_STATIC_LINKING_ONLY  // for a context in memory of our own
#include <zstd.h>

enum {
    COMPRESSION_LEVEL = 3,  // the trace is compressed again when the program has ended
    CHUNK_BYTES = RECORD_EVENTS * TRACE_EVENT_BYTES_MOST + 16,
};

static struct {
    char path[PATH_MAX];
    ZSTD_CCtx *context;
    uint8_t *chunk;  // CHUNK_BYTES
    uint8_t *frame;  // frame_bytes
    size_t frame_bytes;
} record_file;

// System calls without the C library: its own are points at which a thread may be cancelled, and
// malloc is none.
static int open_file(int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, record_file.path, O_WRONLY | O_CLOEXEC | flags, 0);
}

// Whole or not at all, as far as the disk lets us.
static bool append(const uint8_t *bytes, size_t byte_count)
{
    int file = open_file(O_APPEND);
    struct stat status;
    if (file < 0) {
        return false;
    }
    bool is_known = fstat(file, &status) == 0;
    ssize_t written = (ssize_t)syscall(SYS_write, file, bytes, byte_count);
    bool is_written = written == (ssize_t)byte_count;
    if (!is_written && is_known) {
        (void)!ftruncate(file, status.st_size);
    }
    (void)syscall(SYS_close, file);
    return is_written;
}

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static bool make_context(void)
{
    size_t context_bytes = ZSTD_estimateCCtxSize(COMPRESSION_LEVEL);
    record_file.frame_bytes = ZSTD_compressBound(CHUNK_BYTES);
    void *memory = map(context_bytes);
    record_file.chunk = map(CHUNK_BYTES);
    record_file.frame = map(record_file.frame_bytes);
    if (memory == NULL || record_file.chunk == NULL || record_file.frame == NULL) {
        return false;
    }
    record_file.context = ZSTD_initStaticCCtx(memory, context_bytes);
    return record_file.context != NULL &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(record_file.context, ZSTD_c_compressionLevel,
                                                COMPRESSION_LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(record_file.context, ZSTD_c_checksumFlag, 1));
}

static bool read_wish(void)
{
    char *path = NULL;
    const char *wish = getenv("RECORD_TRACE");
    if (wish == NULL || strtol(wish, &path, 10) != (long)getppid() || *path != ':' ||
        strlen(path + 1) >= sizeof record_file.path) {
        return false;
    }
    strcpy(record_file.path, path + 1);
    return true;
}

bool record_file_start(void)
{
    uint8_t head[TRACE_HEAD_BYTES];
    if (!read_wish() || !make_context()) {
        return false;
    }
    int file = open_file(O_TRUNC);
    if (file < 0) {
        return false;
    }
    (void)syscall(SYS_close, file);
    trace_encode_head(head);
    return append(head, sizeof head);
}

bool record_file_add(const struct trace_chunk *chunk)
{
    size_t chunk_bytes = trace_encode(chunk, record_file.chunk);
    size_t frame_bytes = ZSTD_compress2(record_file.context, record_file.frame,
                                        record_file.frame_bytes, record_file.chunk, chunk_bytes);
    return !ZSTD_isError(frame_bytes) && append(record_file.frame, frame_bytes);
}
