#!/bin/sh
# Fails when the allocator reaches the system anywhere but in core/os, or calls what it must not.
# SPDX-License-Identifier: MIT
#
# Outside core/os: no system call, no header that declares one.  Outside core/override: no stdio.
# Nowhere in core: malloc's own users, locale, getenv, exit handlers, the loader.  One exception:
# override/loader.c, which stands in for dlopen, may ask dlsym for the next one.  Headers right in core/ are
# for programs and free of all that.
set -eu
cd "${1:?usage: check_syscalls.sh CORE_DIR}"

sources=$(find . -mindepth 2 -name '*.[ch]' | sed 's|^\./||' | sort)
# The words are paths without spaces.
# shellcheck disable=SC2086
awk '
BEGIN {
    split("syscall mmap mmap64 munmap mremap madvise mprotect brk sbrk futex open openat close read" \
          " write pread writev readlink stat fstat lseek ioctl prctl fork vfork clone waitpid kill" \
          " tgkill raise sigaction pthread_sigmask getpid gettid sched_getaffinity sched_getcpu" \
          " sched_yield clock_gettime gettimeofday time nanosleep usleep sleep sysconf getauxval" \
          " getrlimit getrusage mlock process_madvise mincore _exit", names, " ")
    for (i in names) { os_only[names[i]] = 1 }
    split("printf fprintf sprintf snprintf vsnprintf puts fputs fputc putchar fwrite fopen fclose" \
          " fflush perror", names, " ")
    for (i in names) { stdio[names[i]] = 1 }
    split("getenv secure_getenv setenv setlocale strtol strtoul strtoull strtod atoi atoll strdup" \
          " strndup asprintf vasprintf strerror atexit exit dlsym dlopen qsort getline", names, " ")
    for (i in names) { never[names[i]] = 1 }
    split("dlsym dlopen", names, " ")
    for (i in names) { loader[names[i]] = 1 }
    split("malloc calloc realloc free aligned_alloc posix_memalign memalign", names, " ")
    for (i in names) { libc_heap[names[i]] = 1 }
}
function complain(text) { print "core/" FILENAME ":" FNR ": " text; bad = 1 }
FNR == 1 { in_comment = 0; files++ }
{
    text = $0
    in_os = FILENAME ~ /^os\//
    in_override = FILENAME ~ /^override\//

    # Headers first: their names stand in what looks like text.
    if (text ~ /^ *# *include *</) {
        header = text
        sub(/^[^<]*</, "", header)
        sub(/>.*/, "", header)
        if (!in_os && header ~ /^(sys\/|linux\/|unistd\.h|fcntl\.h|sched\.h|signal\.h|time\.h|poll\.h)/) {
            complain("<" header "> belongs in core/os")
        }
        if (!in_override && header ~ /^(stdio|locale|wchar|malloc)\.h/) {
            complain("<" header "> belongs in core/override, if anywhere")
        }
        next
    }
    gsub(/\\./, "", text)
    gsub(/"[^"]*"/, "\"\"", text)
    gsub(/\/\*.*\*\//, "", text)
    sub(/\/\/.*/, "", text)
    if (in_comment) {
        if (text !~ /\*\//) { next }
        sub(/.*\*\//, "", text)
        in_comment = 0
    }
    if (text ~ /\/\*/) { sub(/\/\*.*/, "", text); in_comment = 1 }

    # Every "name(", unless it is a member or a name being declared or defined.
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*\(/)) {
        name = substr(text, RSTART, RLENGTH - 1)
        before = substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (before ~ /(\.|->)$/) { continue }
        if (name in os_only && !in_os) {
            complain(name "() is a system call: only core/os makes them")
        } else if (name in stdio && !in_override) {
            complain(name "() is stdio, which allocates")
        } else if (name in loader && FILENAME == "override/loader.c") {
            continue
        } else if (name in never) {
            complain(name "() may allocate, lock or be interposed: core must not call it")
        } else if (name in libc_heap && !in_override) {
            complain(name "() is the name that we provide: call the internal function")
        }
    }
}
END {
    if (files == 0) { print "no source file found"; bad = 1 }
    if (!bad) { print files " files: system calls in core/os only" }
    exit bad
}' $sources
