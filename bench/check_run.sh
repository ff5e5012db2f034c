#!/bin/sh
# A test of one workload: its exit status, and a pattern (grep -E) that what it prints must match.
# SPDX-License-Identifier: MIT
set -eu
[ $# -ge 3 ] || { echo "usage: check_run.sh STATUS PATTERN PROGRAM [ARGUMENT...]" >&2; exit 2; }
expected=$1
pattern=$2
shift 2
status=0
output=$("$@" 2>&1) || status=$?
printf '%s\n' "$output"
[ "$status" = "$expected" ] || { echo "exit status $status, expected $expected" >&2; exit 1; }
printf '%s\n' "$output" | grep -Eq -- "$pattern" || { echo "no line matches: $pattern" >&2; exit 1; }
