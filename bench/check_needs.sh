#!/bin/sh
# Fails when a workload needs a library besides libc: only then can any allocator be preloaded.
# SPDX-License-Identifier: MIT
set -eu
[ $# -ge 1 ] || { echo "usage: check_needs.sh PROGRAM..." >&2; exit 2; }
bad=0
for program in "$@"; do
    needed=$(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p')
    [ -n "$needed" ] || { echo "$program: not dynamically linked"; bad=1; }
    for library in $needed; do
        case $library in
        libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | ld-linux*) ;;
        *) echo "$program: needs $library"; bad=1 ;;
        esac
    done
done
[ $bad = 0 ] && echo "$# programs need libc alone"
exit $bad
