#!/bin/sh
# `hakmem record` writes what a program allocates, and `hakmem replay` does it again.
# SPDX-License-Identifier: MIT
#
# usage: record.sh HAKMEM TRACED_PROGRAM STATIC_PROGRAM BENCH_REPLAY LIBRARY
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
program=$2
static=$3
replayer=$4
library=$5

# expect_between WHAT COUNT LEAST MOST
expect_between() {
    if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
        fault "$2 $1, expected $3 to $4"
    fi
}

# What is not this test's program's own: the C library's few blocks for threads.
expect_counts() {
    sed -n 's/.* \([0-9]*\) allocations and \([0-9]*\) frees in \([0-9]*\) threads*, \([0-9]*\) .*/\1 \2 \3 \4/p' err >counts
    read -r births frees threads handovers <counts || fault "no counts"
    expect_between allocations "$births" "$1" $(($1 + 50))
    expect_between frees "$frees" "$2" $(($2 + 50))
    [ "$threads" = "$3" ] || fault "$threads threads, expected $3"
    expect_between "hand-overs" "$handovers" "$4" $(($4 + 20))
}

# 4000 and 400 reallocs and 10; the fifth thread frees the 4000.
for way in exit _exit fork; do
    try "$hakmem" record -o threads.trace -- "$program" $way
    expect_status 0
    expect_empty out
    expect_counts 4410 4000 6 4000
done

# A killed program leaves what it had written by then; nothing where that is less than a buffer.
try "$hakmem" record -o killed.trace -- "$program" kill
expect_status 137
expect_match err 'killed.trace: .* allocations and '
expect_match err "The program didn't leave by exit"
try "$hakmem" replay --plan killed.plan killed.trace
expect_status 0

# Of what has another allocator inside, or no loader, there is nothing to record.
try "$hakmem" record -o static.trace -- "$static"
expect_status 1
expect_line err "hakmem: $static cannot be recorded: it is linked statically, so there is no loader to preload anything."
[ ! -e static.trace ] || fault "a file was left"

# The program's own output and status; a program that becomes another one; the file by default.
try "$hakmem" record -- sh -c 'echo out; exit 7'
expect_status 7
expect_line out out
expect_match err 'hakmem.trace: [0-9]* allocations'
try "$hakmem" record --output=ls.trace -- sh -c 'cd /; exec ls -l /'
expect_status 0
expect_match err '^hakmem: ls.trace: [0-9]* allocations and '
try "$hakmem" record -o ls.trace -- is_not_there
expect_status 127

# What is there and is no trace stays.
echo precious >notes
try "$hakmem" record -o notes -- true
expect_status 2
expect_line err 'hakmem: notes is there already and is no trace. Give another --output.'
expect_line notes precious
try "$hakmem" record -o nowhere/x -- true
expect_status 1

# Replayed: every operation, by both allocators, and twice over.
try "$hakmem" replay threads.trace --plan threads.plan
expect_status 0
try "$replayer" threads.plan --json
expect_status 0
operations=$(sed -n 's/.*"operations": \([0-9]*\),.*"threads": 6,.*/\1/p' out)
expect_between operations "$operations" 8410 8510
try env LD_PRELOAD="$library" "$replayer" threads.plan --times=20 --touch=first
expect_status 0
expect_match out ', allocator hakmem '
try "$hakmem" record -o real.trace -- ls -lR /usr/include
expect_status 0
try "$hakmem" replay real.trace --allocators system --rounds 2 --times 3 --touch none --json
expect_status 0
expect_match out '"bench_replay",'
expect_match out '"--times=3",'
expect_match out '"allocator": "hakmem"'
try "$hakmem" replay threads.trace --allocators system --rounds 2
expect_status 0
expect_line out 'runs: 2 rounds in turns, on any core'
expect_line out 'bench_replay threads.trace'

# refuse SENTENCE FILE-OR-OPTION...
refuse() {
    sentence=$1
    shift
    try "$hakmem" replay "$@"
    expect_status 2
    expect_match err "^hakmem: $sentence\$"
    [ "$(wc -l <err)" = 1 ] || fault "more than one line"
    expect_empty out
}
refuse 'There is nothing to replay. Give a file that hakmem record wrote.' --rounds 3
refuse 'a and b are two traces. Give one of them.' a b
refuse '--touch all is not something to write. Give pages, first or none.' --touch all real.trace
refuse '--workload is for hakmem compare. Give the file of a trace.' --workload mixed
refuse 'nowhere.trace cannot be read: No such file or directory.' nowhere.trace
refuse '. cannot be read: Is a directory.' .
refuse 'notes cannot be read: it is no trace.' notes
: >empty
refuse 'empty cannot be read: it is no trace.' empty
head -c 24 real.trace >head_only
refuse 'head_only cannot be read: it is a trace without a single allocation.' head_only
{ head -c 16 real.trace; printf '\011'; tail -c +18 real.trace; } >other_version
refuse 'other_version cannot be read: it is a trace of another version.' other_version
{ cat real.trace; echo more; } >longer
refuse 'longer is damaged at byte [0-9]*: .* Record it again\.' longer

# Cut anywhere: the trace ends there, or one sentence says where it is damaged.  With a byte changed anywhere:
# the same.
bytes=$(wc -c <threads.trace)
at=25
while [ $at -lt "$bytes" ]; do
    head -c $at threads.trace >cut.trace
    try "$hakmem" replay cut.trace --plan cut.plan
    if [ "$status" = 0 ]; then
        "$replayer" cut.plan >/dev/null || fault "the plan of a cut trace doesn't run"
    else
        expect_status 2
        expect_match err '^hakmem: cut.trace is damaged at byte [0-9]*: .* Record it again\.$'
    fi
    { head -c $at threads.trace; printf '\252'; tail -c +$((at + 2)) threads.trace; } >changed.trace
    try "$hakmem" replay changed.trace --plan changed.plan
    if ! cmp -s changed.trace threads.trace; then
        expect_status 2
        [ "$(wc -l <err)" = 1 ] || fault "more than one line"
    fi
    at=$((at + bytes / 40 + 1))
done

# bench_replay takes nothing else for a plan.
for file in real.trace empty notes; do
    try "$replayer" $file
    expect_status 2
    expect_line err 'bench_replay: plan must be a file that hakmem replay --plan made. See --help.'
done
head -c 300 threads.plan >cut.plan
try "$replayer" cut.plan
expect_status 2
finish
