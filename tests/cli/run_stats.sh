#!/bin/sh
# shellcheck disable=SC2016  # single-quoted text is meant as it stands
# `hakmem run --stats` tells time, memory and heap of the program itself.
# SPDX-License-Identifier: MIT
#
# usage: run_stats.sh HAKMEM LEAKING_PROGRAM
# The program leaves 1000 blocks of 1000 bytes and one of 4 MiB when it ends.
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
leaking=$2

expect_summary() {
    expect_match "$1" '^hakmem: .* ended with status 0$'
    expect_match "$1" '^  wall time  *[0-9]*\.[0-9]\{3\} s$'
    expect_match "$1" '^  user time  *[0-9]*\.[0-9]\{3\} s$'
    expect_match "$1" '^  system time  *[0-9]*\.[0-9]\{3\} s$'
    expect_match "$1" '^  peak resident  *[0-9.]* MiB'
    expect_match "$1" '^  dirty pages  '
    # 5 MB are left, and what the C library itself keeps is little.
    expect_match "$1" '^  live at exit  *[5-6]\.[0-9] MiB in 1[0-9]\{3\} blocks$'
    expect_match "$1" '^    of it in large blocks  *4\.[0-9] MiB in 1 blocks$'
    expect_match "$1" '^   class bytes  live blocks  free blocks    slabs'
    expect_match "$1" '^  *10[0-9][0-9]  *10*[0-9]*  '
    expect_no_match "$1" 'left no figures'
    # Only classes in use have a row.
    [ "$(sed '1,/class bytes/d' "$1" | awk '$2 + $3 + $4 == 0' | wc -l)" = 0 ] ||
        fault "a class that is not in use has a row"
}

mkdir temporary
export TMPDIR="$work/temporary"
try "$hakmem" run --stats -- "$leaking"
expect_status 0
expect_line out "left"
expect_summary err
[ -z "$(ls temporary)" ] || fault "a file was left in TMPDIR"

try "$hakmem" run --stats=summary -- "$leaking"
expect_status 0
expect_empty err
expect_summary summary

# The figures are the program's own, not those of a child that ends before it.
try "$hakmem" run --stats=summary -- perl -e 'system($ARGV[0]); exit 0' "$leaking"
expect_no_match summary 'live at exit  *[0-9.]* MiB in 1[0-9]\{3\} blocks$'
expect_match summary '^  live at exit'

# On the gated front it is told which way the calls went: in shape 1 none looks the policy up.
expect_no_match summary 'policy lookups'
for shape in 0 1; do
    try "$hakmem" run --set alloc_gate_shape=$shape --set tiny_static_route=1 --stats=summary -- "$leaking"
    expect_match summary '^  gated  *legacy  *ultra  *v7  *mid_v3  *declined$'
    expect_match summary '^  malloc  *1[0-9]\{3\}  *0  *0  *0  *0$'
    expect_match summary '^  free  *[0-9]*  *0  *0  *0 *$'
    expect_match summary '^  snapshot reads  *0 by malloc, [0-9]* by free$'
    expect_match summary '^  static reads  *1[0-9]\{3\} by malloc, 0 by free$'
    [ $shape = 1 ] || expect_match summary '^  policy lookups  *1[0-9]\{3\}$'
    [ $shape = 0 ] || expect_match summary '^  policy lookups  *0$'
done
try "$hakmem" run --set alloc_gate_shape=0 --set tiny_profile=off --stats=summary -- "$leaking"
expect_match summary '^  malloc  *0  *0  *0  *0  *1[0-9]\{3\}$'

# One variable takes a profile of the memo's back, or one of its gates.
front_of() {
    try env HAKMEM_PROFILE=BASELINE "$@" "$hakmem" run --stats=summary -- "$leaking"
    if grep -q 'policy lookups' summary; then echo gated; else echo fused; fi
}
[ "$(front_of)" = gated ] || fault "BASELINE isn't on the gated front"
[ "$(front_of HAKMEM_PROFILE=default)" = fused ] || fault "the profile wasn't taken back"
[ "$(front_of HAKMEM_ALLOC_GATE_SHAPE=fused)" = gated ] || fault "one gate of four took all back"
[ "$(front_of HAKMEM_ALLOC_GATE_SHAPE=fused HAKMEM_ALLOC_ROUTE_SHAPE=fused \
    HAKMEM_TINY_STATIC_ROUTE=fused HAKMEM_FREE_STATIC_ROUTE=fused)" = fused ] ||
    fault "all four gates didn't take the front back"

# The learner tells what it decided, or that it decided nothing.
expect_no_match summary 'learner'
try "$hakmem" run --set learner=on --stats=summary -- "$leaking"
expect_match summary '^  learner: nothing was worth a change$'
try "$hakmem" run --set learner=on --set tiny_static_route=1 --stats=summary -- "$leaking"
expect_match summary '^  learner: frozen by a static route$'

# A file that the user named is kept, and older lines in it are not taken for new ones.
echo '{"pid": 1, "live_bytes": 1}' >kept
try env HAKMEM_STATS="$work/kept" "$hakmem" run --stats=summary -- "$leaking"
expect_summary summary
[ "$(wc -l <kept)" = 2 ] || fault "expected one more line in the file that HAKMEM_STATS names"

# Whoever should read the summary is gone: the program's status stays, and no file.
mkfifo ends
sh -c 'exec 3<ends' &
{ "$hakmem" run --stats -- sh -c 'sleep 0.5; exit 5' 2>ends; } || status=$?
expect_status 5
[ -z "$(ls temporary)" ] || fault "a file was left in TMPDIR"

# A program that leaves without a word.
for command in 'kill -KILL $$' 'kill -TERM $$'; do
    try "$hakmem" run --stats=summary -- sh -c "$command"
    expect_match summary 'ended by signal'
    expect_match summary '^The program left no figures of its heap: '
    expect_match summary '^  wall time'
done

# The summary's place is made before the program starts.
rm -f started
try "$hakmem" run --stats=no/such/folder -- touch started
expect_status 1
expect_match err '^hakmem: no/such/folder cannot be written: '
[ ! -e started ] || fault "the program was started"
try sh -c "trap '' XFSZ; ulimit -f 0; exec '$hakmem' run --stats -- touch started"
expect_status 1
[ ! -e started ] || fault "the program was started"
try env TMPDIR=/nowhere "$hakmem" run --stats -- touch started
expect_status 1
expect_match err 'Set TMPDIR to a folder'
finish
