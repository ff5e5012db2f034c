#!/bin/sh
# `hakmem bench`: what is refused, what is left out, and that every file it writes is whole.
# shellcheck disable=SC2016  # single-quoted text is meant as it stands
# SPDX-License-Identifier: MIT
#
# usage: bench.sh HAKMEM GREEDY_ALLOCATOR OTHER_LIBRARY LIBRARY
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
greedy=$2
other=$3
library=$4

# refuse STATUS SENTENCE OPTION...
refuse() {
    wanted=$1
    sentence=$2
    shift 2
    try "$hakmem" bench "$@"
    expect_status "$wanted"
    expect_line err "hakmem: $sentence"
    [ "$(wc -l <err)" = 1 ] || fault "more than one line"
    expect_empty out
}
refuse 2 'nothing is not a suite. Give default, scaling, idle, small, programs, mimalloc-bench or all; a program of your own: hakmem compare.' nothing
refuse 2 'idle is a second suite. Give one, or all.' small idle
refuse 2 'mimalloc-bench does not come with hakmem. Say where it was built: --mimalloc-bench DIR.' mimalloc-bench
refuse 2 '--mimalloc-bench nowhere: there is no out/bench in it. Build it there (build-bench-env.sh bench).' \
    --mimalloc-bench nowhere all
refuse 2 '--only: the suite has no row cfrac.' --only true,cfrac small
refuse 2 '--workload is for hakmem compare. Name a suite.' --workload mixed
refuse 2 '--rounds 1 says nothing: without a second run nobody knows the noise. Give at least 2, better 10.' --rounds 1
refuse 2 '--html= names no file.' --html=
refuse 2 '--core and --no-pin contradict each other. Give one of them.' --core 0 --no-pin
refuse 2 'glibc is not an allocator known here. Give system, hakmem, mimalloc, jemalloc, tcmalloc, or NAME=FILE.so.' \
    --allocators glibc
refuse 2 'mine=./nowhere.so cannot be read: No such file or directory.' --allocators mine=./nowhere.so
refuse 2 "mine=$other is no allocator that can be preloaded: malloc does not come from it." --allocators "mine=$other"
echo text >taken.md
refuse 2 'taken.md is there already and is no record. Give --force to overwrite it, or --markdown=FILE.' --markdown taken.md
refuse 1 'nowhere/out.json cannot be written: No such file or directory.' --allocators system --json nowhere/out.json small

# Programs that behave as it suits the test, where those of mimalloc-bench would be.
mkdir -p suite/out/bench
program() {
    { echo '#!/bin/sh'; echo "$2"; } >"suite/out/bench/$1"
    chmod +x "suite/out/bench/$1"
}
bench() {
    try "$hakmem" bench --allocators "system,greedy=$greedy,twin=$library" --seed 1 --mimalloc-bench suite "$@"
}

# What isn't there is left out, and so is a peer that fails; where it runs is where its files are.
program cfrac "[ \"\$1\" = 17545186520507317056371138836327483792789528 ] && [ -x ./cfrac ]; sleep 0.01"
program larson "case \$LD_PRELOAD in *greedy*) exit 3 ;; esac; exec env echo 'relative time: 2.5s.'"
bench --rounds 6 --json out.json mimalloc-bench
expect_status 0
expect_line err 'hakmem: left out: espresso: ./espresso is not there.'
expect_line err 'hakmem: A run of side greedy ended with status 3; a failed run has no figure.'
expect_line err 'hakmem: left out: larson-8 under greedy: a run of it failed.'
expect_line out 'left out: espresso: ./espresso is not there'
expect_match out '^cfrac .* s   *[0-9.]* \[[0-9.]*, [0-9.]*\] \(system\|greedy\) '
expect_match out '^larson-8  *2\.5000 s  1\.000 \[1\.000, 1\.000\] system '
expect_match out '^frontier, hakmem / best of each row  '
expect_match out '^mean, hakmem / twin '
expect_match out "^hakmem .*libhakmem.*, version [0-9.]*, [0-9]* bytes"
expect_match out.json '"name": "twin",'
[ "$(grep -c '"is_peer": true' out.json)" = 2 ] || fault "another build of hakmem is no peer"

# Without hakmem's own figure there is none, and nothing half.
program cfrac "case \$LD_PRELOAD in */libhakmem*) exit 3 ;; esac; exit 0"
rm out.json
bench --rounds 2 --only cfrac --json out.json --html out.html --markdown out.md mimalloc-bench
expect_status 1
expect_match err '^hakmem: cfrac failed under \(hakmem\|twin\)'
[ -z "$(ls out.* 2>/dev/null)" ] || fault "a file was left"
expect_empty out
rm suite/out/bench/*
bench --rounds 2 mimalloc-bench
expect_status 1
expect_line err 'hakmem: No program of the suite is there, so there is nothing to run.'

# Every file of a short run is whole.
cat >notes.txt <<'END'
thread-churn: a note on a row that ran.
teardown: a note on a row that did not.
END
files="--json out.json --markdown out.md --notes notes.txt"
command -v gnuplot >/dev/null && files="$files --plot out.svg --html out.html"
# shellcheck disable=SC2086
try "$hakmem" bench --allocators "system,twin=$library" --rounds 2 --progress --only thread-churn,mixed-mt-32,mixed-mt-64,true $files all
expect_status 0
expect_line err 'hakmem: left out: mimalloc-bench: --mimalloc-bench was not given.'
expect_match err '^warming up mixed-mt-32, 2 of 4$'
expect_match err '^true, round 0 of 2, about [0-9]* s left$'
for name in default scaling small; do
    expect_match out "^$name  *hakmem  time / best peer "
done
expect_match out '^mixed-mt-32  *[0-9.]* M ops/s  [0-9.]* system  '
if command -v strace >/dev/null && strace -f -o trace true; then
    expect_match out '^  true  *system [1-9][0-9]*  hakmem [1-9][0-9]*  twin '
fi
for name in system twin; do
    expect_match out.json "\"allocator\": \"$name\""
done
expect_match out.json '"frontier": {'
if command -v python3 >/dev/null; then
    python3 -m json.tool <out.json >json || fault "it is no JSON"
fi
expect_match out.md '^\*\*Status\.\*\* measured: frontiers default time [0-9.]*, peak memory [0-9.]*; scaling time '
expect_match out.md '^## Rows where a peer is ahead: [0-4] of 4$'
expect_match out.md '^| thread-churn | [0-9.]* system | [0-9.]* system | [0-9.]* system | |$'
expect_line out.md '- thread-churn: a note on a row that ran.'
expect_no_match out.md 'did not'
expect_match out.md '^| hakmem | [0-9.]* | `libhakmem\.so[0-9.]*` | [0-9]* | `[0-9a-f]*` |$'
if command -v gnuplot >/dev/null; then
    expect_match out.svg '>mixed-mt: M ops/s over threads</text>'
    expect_match out.html '<h2>scaling</h2>'
    expect_match out.html '>mixed-mt: M ops/s over threads</text>'
    expect_no_match out.html '\(src\|href\)="http'
    if command -v xmllint >/dev/null; then
        xmllint --noout out.svg out.html 2>xml || fault "$(head -n 3 xml)"
    fi
    try sh -c "trap '' XFSZ; ulimit -f 8; exec '$hakmem' bench --allocators system --rounds 2 --only true --html part.html small"
    expect_status 1
    [ -z "$(ls part.html* 2>/dev/null)" ] || fault "a part of the page was left"
fi

# Memory after idle, and the times of single calls.
try "$hakmem" bench --allocators system --rounds 2 --latency --only thread-churn,idle-64 --json out.json --markdown out.md
expect_status 0
expect_match out '^  idle-64  *system [0-9.]* MiB  hakmem [0-9.]* MiB$'
expect_match out '^single calls, ns  *malloc  *p50  *p99  *p99.9  *max  *free p50 '
expect_match out '^  thread-churn  *hakmem  *[0-9]*  *[1-9][0-9]*  *[1-9][0-9]*  *[1-9][0-9]*  *[0-9]* '
expect_match out.md '^| idle-64 | | [0-9.]* system | [0-9.]* system | [0-9.]* system |$'
expect_match out.md '^| thread-churn | system | [0-9]* | [1-9]'
expect_match out.json '"p99.9": [1-9]'
finish
