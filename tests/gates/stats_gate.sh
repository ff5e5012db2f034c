#!/bin/sh
# With HAKMEM_STATS each process adds one whole line of figures at exit, whoever writes beside it.
# SPDX-License-Identifier: MIT
#
# usage: stats_gate.sh GATE_PRINT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/../cli/cli_check.sh"
gate_print=$hakmem

export HAKMEM_STATS="$work/figures"
tried="20 processes at once"
: >out
: >err
pids=
for _ in $(seq 20); do
    "$gate_print" HAKMEM_VERBOSE >>out 2>>err &
    pids="$pids $!"
done
wait
[ "$(wc -l <figures)" = 20 ] || fault "expected 20 lines, got $(wc -l <figures)"
[ "$(grep -c '^{.*"live_bytes".*"classes".*}$' figures)" = 20 ] || fault "a line is not whole"
for pid in $pids; do
    [ "$(grep -c "\"pid\": *${pid}[,}]" figures)" = 1 ] || fault "process $pid left no line of its own"
done
expect_empty err

# A file that can't be written is no reason to speak or to fail.
try env HAKMEM_STATS=/no/such/folder/figures "$gate_print" HAKMEM_STATS
expect_status 0
expect_line out HAKMEM_STATS=/no/such/folder/figures
expect_empty err
finish
