#!/bin/sh
# Runs a misuse program and compares its end with the first line of its source:
#   // expect: abort "REGEX"     in every process
#   // hardened: abort "REGEX"   in one with HAKMEM_PROFILE=hardened; in others it may end as it likes
#   // hardened: signal SEGV
#   // hardened: harmless        the program looks whether it gained anything, and didn't
#   // expect: missed            it goes on to its end
#   // guarded: ...              in one with HAKMEM_GUARD_RATE=1
# Where it aborts, standard error must be one line that matches as a whole, where more may follow the
# message only after a comma, a semicolon or a full stop.
# SPDX-License-Identifier: MIT
set -u
source=${1:?usage: run_misuse.sh SOURCE PROGRAM [LIBRARY]}
program=${2:?usage: run_misuse.sh SOURCE PROGRAM [LIBRARY]}
library=${3:-}

kind=$(sed -n '1s/^\/\/ \([a-z]*\): .*/\1/p' "$source")
regex=$(sed -n '1s/^\/\/ [a-z]*: abort "\(.*\)"$/\1/p' "$source")
status_wanted=$(sed -n '1s/^\/\/ [a-z]*: harmless$/3/p; 1s/^\/\/ [a-z]*: missed$/0/p' "$source")
signal=$(sed -n '1s/^\/\/ [a-z]*: signal \([A-Z]*\)$/\1/p' "$source")
case $kind:$regex$signal$status_wanted in
expect:?*) ;;
hardened:?*) [ "${HAKMEM_PROFILE:-}" = hardened ] || exit 77 ;;
guarded:?*) [ "${HAKMEM_GUARD_RATE:-}" = 1 ] || exit 77 ;;
*)
    echo "$source: the first line is not '// expect: abort \"...\"' or another that is listed here"
    exit 2
    ;;
esac

# No core file; every shell that Debian has as sh knows the option.
# shellcheck disable=SC3045
ulimit -c 0
# In the background, as the shell would else write its own "Aborted" into the file.
file=$(mktemp)
trap 'rm -f "$file"' EXIT
env LD_PRELOAD="$library" "$program" >/dev/null 2>"$file" &
wait $!
status=$?
said=$(cat "$file")
if [ -n "$status_wanted" ]; then
    [ $status = "$status_wanted" ] && [ -z "$said" ] && exit 0
    echo "the status is $status, not $status_wanted; it said: $said"
    exit 1
fi
if [ -n "$signal" ]; then
    [ $status -gt 128 ] && [ "$(kill -l $status)" = "$signal" ] && exit 0
    echo "the status is $status, not that of SIG$signal; it said: $said"
    exit 1
fi
if [ $status != 134 ]; then
    echo "the status is $status, not 134 (SIGABRT); it said: $said"
    exit 1
fi
if [ "$(printf '%s\n' "$said" | wc -l)" != 1 ] ||
    ! printf '%s\n' "$said" | grep -qE "^$regex([,;.].*)?\$"; then
    printf 'expected: %s\nit said:  %s\n' "$regex" "$said"
    exit 1
fi
printf '%s\n' "$said"
