#!/bin/bash
# The proof of the program tests fails where it should: for a library that serves nothing, for a
# program that takes memory from glibc behind hakmem's back, and for output that differs.
# SPDX-License-Identifier: MIT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=$(realpath -e "${HAKMEM_LIBRARY:?give the library under test}")
folder=$(mktemp -d "${TMPDIR:-/tmp}/hakmem-proof.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# expect SENTENCE LIBRARY: the test in $folder/case.sh fails under LIBRARY and says SENTENCE.
expect() {
    local status=0
    HAKMEM_LIBRARY=$2 bash "$folder/case.sh" >"$folder/said" 2>&1 || status=$?
    if [ "$status" -ne 1 ] || ! grep -q "$1" "$folder/said"; then
        echo "expected exit status 1 and \"$1\"; got $status and:"
        cat "$folder/said"
        exit 1
    fi
    echo "failed as it should: $1"
}

# case_write PROCESS COMMAND: a test that runs the command.
case_write() {
    cat >"$folder/case.sh" <<END
. "$here/support.sh" || exit 2
workload() { "\${under[@]}" $2; }
program_run $1
END
}

printf 'int hak_test_nothing(void);\nint hak_test_nothing(void) { return 0; }\n' >"$folder/nothing.c"
gcc -shared -fPIC -o "$folder/libnothing.so" "$folder/nothing.c"
gcc -shared -fPIC -o "$folder/libhakmem_nothing.so" "$folder/nothing.c"

cat >"$folder/sneak.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    void *(*glibc_malloc)(size_t) = (void *(*)(size_t))dlsym(libc, "malloc");
    char *block = glibc_malloc(100);
    strcpy(block, "from glibc");
    puts(block);
    return 0;
}
END
gcc -o "$folder/sneak" "$folder/sneak.c"

case_write perl 'perl -e "print 1 .. 9"'
expect 'without hakmem in its memory map' "$folder/libnothing.so"
expect 'had a brk heap of\|glibc held' "$folder/libhakmem_nothing.so"
case_write no_such_program 'perl -e "print 1 .. 9"'
expect 'show it at work in no process named no_such_program' "$library"
case_write sneak "$folder/sneak"
expect 'had a brk heap of\|glibc held' "$library"
case_write printenv 'printenv LD_PRELOAD'
expect 'the output on hakmem (>) differs' "$library"
case_write perl 'perl -e "exit 3"'
expect 'the run on glibc ended with status 3' "$library"
case_write perl 'perl -e "1"'
expect 'printed nothing that could be compared' "$library"
