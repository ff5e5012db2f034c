#!/bin/sh
# `hakmem compare`: allocators whose costs are known, what is refused, and the proof of what ran.
# SPDX-License-Identifier: MIT
#
# usage: compare.sh HAKMEM GREEDY_ALLOCATOR WAVE_PROGRAM OTHER_LIBRARY STATIC_PROGRAM FIXED_PROGRAM
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
greedy=$2
wave=$3
other=$4
static=$5
fixed=$6

# refuse STATUS SENTENCE OPTION...
refuse() {
    wanted=$1
    sentence=$2
    shift 2
    try "$hakmem" compare "$@"
    expect_status "$wanted"
    expect_line err "hakmem: $sentence"
    [ "$(wc -l <err)" = 1 ] || fault "more than one line"
    expect_empty out
}
refuse 2 'There is nothing to run. Name a program after --, or give --workload mixed.'
refuse 2 '--workload and a program after -- are two things to run. Give one of them.' --workload mixed -- true
refuse 2 '--rounds 1 says nothing: without a second run nobody knows the noise. Give at least 2, better 10.' \
    --rounds 1 -- true
refuse 2 'glibc is not an allocator known here. Give system, hakmem, mimalloc, jemalloc, tcmalloc, or NAME=FILE.so.' \
    --allocators glibc -- true
refuse 2 '--allocators: two of them are named system.' --allocators system,system -- true
refuse 2 "--allocators: '' has no name, or one that is too long. Give a list such as system,mimalloc,mine=./libmine.so." \
    --allocators system,,hakmem -- true
refuse 2 "--allocators: system is the C library's own malloc and has no file. Give $greedy another name." \
    --allocators "system=$greedy" -- true
refuse 2 'mine=./nowhere.so cannot be read: No such file or directory.' --allocators mine=./nowhere.so -- true
refuse 2 "mine=$other is no allocator that can be preloaded: malloc does not come from it." \
    --allocators "mine=$other" -- true
refuse 2 '--json and --markdown would both go to standard output. Give --markdown=FILE.' --json --markdown -- true
refuse 2 '--markdown= names no file.' --markdown= -- true
refuse 1 'nowhere was not found.' -- nowhere
refuse 1 "$static runs without hakmem: it is linked statically, so there is no loader to preload anything." \
    --allocators system -- "$static"
refuse 1 'nowhere/out.svg cannot be written: No such file or directory.' \
    --allocators system --plot nowhere/out.svg -- touch started
[ ! -e started ] || fault "the program was started"
refuse 1 'A run of side system ended with status 3; a failed run has no figure.' \
    --allocators system -- sh -c 'exit 3'

# An allocator that can't be loaded is left out of the usual list, and missed in a list that names it.
mkdir broken
: >broken/libjemalloc.so.2
left_out='jemalloc is left out: it is not installed (Debian: apt-get install libjemalloc2).'
try env LD_LIBRARY_PATH="$work/broken" "$hakmem" compare --rounds 2 -- true
expect_status 0
expect_line err "hakmem: $left_out"
expect_no_match out '^jemalloc'
expect_match out '^system again '
try env LD_LIBRARY_PATH="$work/broken" "$hakmem" compare --allocators system,jemalloc --rounds 2 -- true
expect_status 2
expect_match err '^hakmem: jemalloc is not installed (Debian: apt-get install libjemalloc2)\. '

# Each run proves its allocator: the program that brings another one is found out.
try "$hakmem" compare --allocators system --rounds 2 -- \
    sh -c "LD_PRELOAD='$greedy':\${LD_PRELOAD##*:} seq 3; exit 0"
expect_status 1
expect_match err "^hakmem: A run of sh was meant for .* but a process of it took its malloc from $greedy\. If it brings its own allocator, compare with that: --allocators own=$greedy,hakmem\.\$"
try "$hakmem" compare --allocators system --rounds 2 -- env -u LD_PRELOAD seq 3
expect_status 1
expect_match err 'No process of env said at its end where its malloc is'

# A program at a fixed address lends its own stub as malloc's address, and brings no allocator by that.
for program in "$fixed" /usr/bin/python3; do
    [ -x "$program" ] || continue
    try "$hakmem" compare --allocators "system,greedy=$greedy,hakmem" --rounds 2 -- "$program" -c pass
    expect_status 0
done
# Costs that are known: eight waves in one heap, or each in a new one.
compare() {
    try "$hakmem" compare --allocators "system,greedy=$greedy" --rounds 6 --seed 1 "$@" -- "$wave" 8 8
    expect_status 0
    expect_empty err
}
compare
expect_line out "$wave 8 8"
expect_match out '^runs: 6 rounds in turns, pinned to core [0-9]*$'
expect_match out '^hakmem /.*/libhakmem\.so.*, version [0-9.]*$'
expect_line out "greedy $(readlink -f "$greedy")"
sed -n '/^peak memory, MiB /,/^$/p' out >peak
expect_match peak ' against system$'
expect_match peak '^greedy  *[67][0-9]\.[0-9 .%]* [3-8]\.[0-9]*  *[3-8]\.[0-9]* to [3-8]\.[0-9]*  more$'
expect_match peak '^hakmem '
expect_match peak '^system again .* \(0\.9\|1\.0\)[0-9]* to .*  the noise floor$'
expect_match out '^Proof: in every run each process named the object'
for measure in time 'CPU time' 'page faults'; do
    expect_match out "^$measure"
done

# The others are compared with the first, whichever it is.
try "$hakmem" compare --allocators "greedy=$greedy,hakmem,system" --rounds 6 -- "$wave" 8 8
expect_status 0
sed -n '/^peak memory, MiB /,/^$/p' out >peak
expect_match peak ' against greedy$'
expect_match peak '^system .* 0\.[1-3][0-9]*  *0\.[1-3][0-9]* to 0\.[1-3][0-9]*  less$'
expect_match peak '^greedy again .*  the noise floor$'
try "$hakmem" compare --allocators hakmem --rounds 2 -- true
expect_status 2
expect_match err 'hakmem is the only allocator'

# One JSON document, a record, a picture.
compare --json
for text in '"allocator": "greedy"' '"finding": "more"' '"against": "system"' '"rounds": 6' '"is_control": true'; do
    expect_match out "$text"
done
[ "$(grep -c '"wall_seconds":' out)" = 24 ] || fault "not all runs are there"
if command -v python3 >/dev/null; then
    python3 -m json.tool <out >/dev/null || fault "it is no JSON"
fi
compare --markdown=record.md
for part in Question Machine Command; do
    expect_match record.md "^\*\*$part\.\*\* "
done
expect_match record.md '^\*\*Status\.\*\* measured: time over system: .*; peak memory over system: .*greedy [3-8]\.[0-9]*'
expect_match record.md '^| greedy | [67][0-9.]* | .* \[[3-8].*\] | more |$'
if command -v gnuplot >/dev/null; then
    try sh -c "trap '' XFSZ; ulimit -f 8; exec '$hakmem' compare --allocators system --rounds 2 --plot part.svg -- true"
    expect_status 1
    expect_line err 'hakmem: part.svg cannot be written: the disk took only a part of it.'
    [ -z "$(ls part.svg* 2>/dev/null)" ] || fault "a part of the picture was left"
    compare --plot bars.svg
    expect_match bars.svg '<svg'
    expect_match bars.svg '<text>greedy</text>'
fi
finish
