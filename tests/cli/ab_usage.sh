#!/bin/sh
# shellcheck disable=SC2016  # single-quoted text is meant as it stands
# What `hakmem ab` refuses: one clear sentence, status 2 for wrong usage and 1 for failure, no file left.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"

mkdir files
# refuse STATUS SENTENCE OPTION...
refuse() {
    wanted=$1
    sentence=$2
    shift 2
    try "$hakmem" ab --markdown=files/record.md "$@"
    expect_status "$wanted"
    expect_line err "hakmem: $sentence"
    [ "$(wc -l <err)" = 1 ] || fault "more than one line"
    expect_empty out
    [ -z "$(ls files)" ] || fault "something was written: $(ls files)"
}

refuse 2 'There is no side B. Give --b GATE=value, --gate GATE, or --all-gates.' -- true
refuse 2 'There is nothing to run. Name a program after --, or give --workload mixed.' --b bin_bytes=1k
refuse 2 '--workload and a program after -- are two things to run. Give one of them.' \
    --b bin_bytes=1k --workload mixed -- true
refuse 2 '--workload mxed is not a workload. Give mixed, or name a program after --.' \
    --b bin_bytes=1k --workload mxed
refuse 2 '--b and --gate are two ways to say what side B is. Give one of them.' \
    --b bin_bytes=1k --gate dirty_limit -- true
refuse 2 'HAKMEM_BIN_BYTS is not a gate. Did you mean HAKMEM_BIN_BYTES? `hakmem gates` lists them.' \
    --a HAKMEM_BIN_BYTS=1k --b HAKMEM_BIN_BYTES=2k -- true
refuse 2 'bin_byts is not a gate. Did you mean HAKMEM_BIN_BYTES? `hakmem gates` lists them.' \
    --gate bin_byts -- true
refuse 2 'HAKMEM_DIRTY_SHARE=101 is out of range. Give 0 to 100.' --b dirty_share=101 -- true
refuse 2 'HAKMEM_TINY_PROFILE=warm is not one of its words. Give conservative|hot|full|off.' \
    --a tiny_profile=warm --b tiny_profile=off -- true
refuse 2 'HAKMEM_PROFILE=laen is not a profile. Did you mean lean? `hakmem profiles` lists them.' \
    --profile laen --b bin_bytes=1k -- true
refuse 2 '--b bin_bytes is not a setting. Give GATE=value, e.g. --b dirty_limit=16MiB.' --b bin_bytes -- true
refuse 2 'HAKMEM_STATS carries the proof that hakmem ran, so it can'"'"'t be a setting of a side.' \
    --b stats=there -- true
refuse 2 'HAKMEM_PROFILE has no other value that suggests itself. Give --gate profile=VALUE.' --gate profile -- true
refuse 2 '--runs 1 says nothing: without a second run nobody knows the noise. Give at least 2, better 10.' \
    --b bin_bytes=1k --runs 1 -- true
refuse 2 '--runs ten is not a number that it takes. Give 2 to 1000.' --b bin_bytes=1k --runs ten -- true
refuse 2 '--until-decided looks first after --runs rounds; fewer than 6 prove nothing.' \
    --b bin_bytes=1k --runs 5 --until-decided -- true
refuse 2 '--most 8 is below the first look, which is after --runs 10 rounds.' \
    --b bin_bytes=1k --until-decided --most 8 -- true
refuse 2 '--measure speed is not a measure. Give throughput, time, cpu, rss, faults, or NAME=regex with the figure in parentheses.' \
    --b bin_bytes=1k --measure speed -- true
refuse 2 "--measure n=x has no group; put the figure in parentheses, e.g. 'latency=p99: ([0-9.]+) ms'." \
    --b bin_bytes=1k --measure n=x -- true
refuse 2 '--core 99999 is not a core that this process may run on.' --b bin_bytes=1k --core 99999 -- true
refuse 2 '--core and --no-pin contradict each other. Give one of them.' --b bin_bytes=1k --core 0 --no-pin -- true
refuse 2 '--plot= names no file.' --b bin_bytes=1k --plot= -- true
refuse 2 'HAKMEM_DIRTY_LIMT is not a gate. Did you mean HAKMEM_DIRTY_LIMIT? `hakmem gates` lists them.' \
    --b bin_bytes=1k --env HAKMEM_DIRTY_LIMT=off -- true
refuse 2 '--promote compares B with the profile as it stands. Leave --a out.' \
    --a bin_bytes=2k --b bin_bytes=1k --profile lean --promote -- true
refuse 2 '--promote writes into a profile. Give --profile NAME.' --b bin_bytes=1k --promote -- true
refuse 1 '--markdown=files/record.md is not in the source tree /usr; a record stays with its preset, in docs/analysis/.' \
    --b bin_bytes=1k --profile lean --promote --source /usr -- true

try "$hakmem" ab --b bin_bytes=1k --profile lean --promote -- true
expect_status 2
expect_line err 'hakmem: Nothing is promoted without a record. Give --markdown=docs/analysis/FILE.md.'
try "$hakmem" ab --b bin_bytes=1k --colour -- true
expect_status 2

# A file that is no record is not overwritten unasked.
echo precious >notes.md
try "$hakmem" ab --b bin_bytes=1k --markdown=notes.md -- true
expect_status 2
expect_line err 'hakmem: notes.md is there already and is no record. Give --force to overwrite it, or --markdown=FILE.'
expect_line notes.md precious
for option in --force --no-pin; do
    try "$hakmem" ab --b bin_bytes=1k --runs 2 $option --markdown=notes.md -- seq 3
    expect_status 0
    expect_match notes.md '^\*\*Status\.\*\* undecided'
done

# Programs that can't be measured.
refuse 1 'nowhere was not found.' --b bin_bytes=1k -- nowhere
refuse 1 'A run of side A ended with status 3; a failed run has no figure. Its last words: no luck' \
    --b bin_bytes=1k -- sh -c 'echo no luck >&2; exit 3'
refuse 1 'A run of side A was ended by signal 9 (Killed); a failed run has no figure.' \
    --b bin_bytes=1k -- sh -c 'kill -9 $$'
refuse 1 'seq printed no throughput such as 5.1 M ops/s. Measure its time (--measure time), or say what to look for (--measure NAME=regex). Its last words: 3' \
    --b bin_bytes=1k --measure throughput -- seq 3
refuse 1 'seq printed no n. Measure its time (--measure time), or say what to look for (--measure NAME=regex). Its last words: 3' \
    --b bin_bytes=1k --measure 'n=count ([0-9]+)' -- seq 3
for figure in 0 -1 nan; do
    refuse 1 "sh printed $figure as its z; a figure must be finite and above 0 to be compared." \
        --b bin_bytes=1k --measure 'z=z ([-0-9a-z]+)' -- sh -c "echo z $figure | cat"
done
# Settings that do nothing are pointed out before the runs.
try "$hakmem" ab --a mid_v3_classes=3 --b mid_v3_classes=1 --runs 2 -- seq 3
expect_status 0
expect_line err 'hakmem: HAKMEM_MID_V3_CLASSES has no effect without HAKMEM_MID_V3_ENABLED=on.'
# A number that is only read in part is no figure.
for text in '1,234 ops/s' '12x ops/s'; do
    try "$hakmem" ab --b bin_bytes=1k --measure throughput -- sh -c "echo '$text' | cat"
    expect_status 1
    expect_match err ' printed no throughput such as'
done
try "$hakmem" ab --b bin_bytes=1k --measure 'n=n ([0-9,]+)' -- sh -c "echo 'n 1,234' | cat"
expect_status 1
# Only one side fails: by the setting, which the program sees.
refuse 1 'A run of side B ended with status 4; a failed run has no figure.' \
    --b bin_bytes=1k -- sh -c 'true | cat; [ -z "$HAKMEM_BIN_BYTES" ] || exit 4'

# A program on another malloc proves nothing, and one that hakmem can't be loaded into is told at once.
try "$hakmem" ab --b bin_bytes=1k -- "$2"
expect_status 1
expect_match err 'runs without hakmem: it is linked statically'
try "$hakmem" ab --b bin_bytes=1k -- env -u LD_PRELOAD seq 3
expect_status 1
expect_match err 'left no figures of a heap, so nothing shows that it ran on hakmem'

# The tools and folders that the results need are looked at before anything runs.
refuse 1 'nowhere/out.svg cannot be written: No such file or directory.' \
    --b bin_bytes=1k --plot nowhere/out.svg -- touch started
try env PATH="$work" "$hakmem" ab --b bin_bytes=1k --plot out.svg -- /usr/bin/touch started
expect_status 1
expect_match err '^hakmem: gnuplot was not found, which --plot draws with\. '
[ ! -e started ] || fault "the program was started"

try env HAKMEM_LIBRARY=./nowhere.so "$hakmem" ab --b bin_bytes=1k -- touch started
expect_status 1
expect_match err '^hakmem: HAKMEM_LIBRARY=./nowhere.so cannot be read'
finish
