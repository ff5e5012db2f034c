#!/bin/sh
# Fuzzes: fuzz.sh [--seconds N] [--engine libfuzzer|afl] [TARGET...]; the targets are heap, gates and cli.
# SPDX-License-Identifier: MIT
#
# Each target runs N seconds (60) from its corpus in tests/fuzz/corpus; what it finds on the way goes to
# out/fuzz-ENGINE/TARGET.  Exit status 0: nothing broke; 1: something did, and its input is named.  Exit 77:
# clang, or afl-clang-fast, isn't here.
set -eu
usage='usage: fuzz.sh [--seconds N] [--engine libfuzzer|afl] [TARGET...]'
seconds=60
engine=libfuzzer
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=${2:?$usage}; shift 2 ;;
    --engine) engine=${2:?$usage}; shift 2 ;;
    -*) echo "$usage" >&2; exit 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || set -- heap gates cli
cd "$(dirname "$0")/.."
case $engine in
libfuzzer) compiler=clang ;;
afl) compiler=afl-clang-fast ;;
*) echo "$usage" >&2; exit 2 ;;
esac
command -v $compiler >/dev/null || { echo "$compiler isn't installed: nothing is fuzzed"; exit 77; }

build=out/fuzz-$engine
mkdir -p "$build"
flags='-fsanitize=address,undefined -fno-sanitize-recover=all'
[ "$engine" = afl ] || flags="$flags -fsanitize=fuzzer-no-link"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=$compiler -DCMAKE_C_FLAGS="$flags" \
    -DHAK_PRELOAD=OFF -DHAK_FUZZ=ON >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; exit 1; }

bad=0
for target in "$@"; do
    cmake --build "$build" --target "${target}_fuzz" >"$build/build.log" 2>&1 || { tail -n 30 "$build/build.log"; exit 1; }
    program=$build/tests/fuzz/${target}_fuzz
    found=$build/$target
    mkdir -p "$found"
    if [ "$engine" = libfuzzer ]; then
        if ! "$program" "$found" "tests/fuzz/corpus/$target" -max_total_time="$seconds" -max_len=4096 -close_fd_mask=2 \
            -artifact_prefix="$found-" >"$found.log" 2>&1; then
            echo "$target: broke; the input and the report are in $found-* and $found.log"
            bad=1
        else
            echo "$target: $(tail -n 1 "$found.log")"
        fi
    else
        AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 \
            afl-fuzz -V "$seconds" -m none -i "tests/fuzz/corpus/$target" -o "$found" -- "$program" >"$found.log" 2>&1 ||
            { tail -n 20 "$found.log"; exit 1; }
        crashes=$(find "$found/default/crashes" -name 'id:*' | wc -l)
        echo "$target: $(sed -n 's/^execs_done *: /executions /p' "$found/default/fuzzer_stats"), $crashes crashes"
        [ "$crashes" = 0 ] || bad=1
    fi
done
exit $bad
