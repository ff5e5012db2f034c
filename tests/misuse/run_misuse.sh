#!/bin/sh
# Runs a misuse program and compares its end with the first line of its source:
#   // expect: abort "REGEX"
# It must die of SIGABRT, and standard error must be one line that matches as a whole, where more may
# follow the message only after a comma, a semicolon or a full stop.
# SPDX-License-Identifier: MIT
set -u
source=${1:?usage: run_misuse.sh SOURCE PROGRAM [LIBRARY]}
program=${2:?usage: run_misuse.sh SOURCE PROGRAM [LIBRARY]}
library=${3:-}

regex=$(sed -n '1s/^\/\/ expect: abort "\(.*\)"$/\1/p' "$source")
if [ -z "$regex" ]; then
    echo "$source: the first line is not '// expect: abort \"...\"'"
    exit 2
fi

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
