#!/bin/sh
# The library starts silent: beside being mapped by the loader it opens nothing, reads nothing and writes
# nothing, and a program that allocates makes no other kinds of system calls than these.
# SPDX-License-Identifier: MIT
#
# usage: quiet_start_test.sh LIBRARY PROGRAM
set -eu
library=${1:?usage: quiet_start_test.sh LIBRARY PROGRAM}
program=${2:?usage: quiet_start_test.sh LIBRARY PROGRAM}
allowed=' mmap munmap madvise futex getpid '
command -v strace >/dev/null || { echo "skipped: strace is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strace -f -o "$work/without" "$program" >"$work/said" 2>&1 || { echo "skipped: strace cannot trace here"; exit 77; }
strace -f -E LD_PRELOAD="$library" -o "$work/with" "$program" >"$work/out" 2>"$work/err"
bad=0
[ ! -s "$work/err" ] || { echo "it says:"; cat "$work/err"; bad=1; }
cmp "$work/said" "$work/out" || bad=1

# What comes after the last library was opened, by name.
names()
{
    awk '{ line[NR] = $0 } /^[0-9]+ +open/ && !/ENOENT/ { last = NR }
        END { for (i = last + 1; i <= NR; i++) print line[i] }' "$1" |
        sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' | sort -u
}
names "$work/without" >"$work/without_names"
names "$work/with" >"$work/with_names"
for name in $(comm -13 "$work/without_names" "$work/with_names"); do
    case $allowed in
    *" $name "*) ;;
    *)
        echo "another system call:"
        grep "$name(" "$work/with"
        bad=1
        ;;
    esac
done
opened=$(grep -c ' open' "$work/with")
before=$(grep -c ' open' "$work/without")
if [ "$opened" -gt $((before + 1)) ]; then
    echo "$((opened - before - 1)) more files are opened than the library:"
    grep ' open' "$work/with"
    bad=1
fi
[ $bad = 0 ] && echo "of its own: $(comm -13 "$work/without_names" "$work/with_names" | tr '\n' ' ')"
exit $bad
