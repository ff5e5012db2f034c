#!/bin/sh
# Which lines of core/ does the suite never reach, and why?  coverage.sh [BUILD_DIR]
# SPDX-License-Identifier: MIT
#
# Builds with gcc's counters in BUILD_DIR (out/coverage_suite), runs the unit, misuse, conformance, memory and
# gates tests and a few more, and says of each file how many of its lines were reached; then every line that wasn't
# and has no reason in scripts/coverage_reasons.txt.  Whether a test passes doesn't matter here.  Exit status 0: each
# such line has a reason; 1: some have none.  Exit 77: gcovr isn't here.  Half an hour on two cores.
set -eu
[ $# -le 1 ] || { echo 'usage: coverage.sh [BUILD_DIR]' >&2; exit 2; }
cd "$(dirname "$0")/.."
command -v gcovr >/dev/null || { echo "gcovr isn't installed: nothing is counted"; exit 77; }
mkdir -p "${1:-out/coverage_suite}"
build=$(cd "${1:-out/coverage_suite}" && pwd)
report=$build/coverage.xml

count_lines()
{
    end=$build/coverage_end.o
    gcc -O1 -fPIC -c tests/support/coverage_end.c -o "$end"
    link="-Wl,--wrap=abort,--wrap=_exit $end"
    flags='-O0 -g --coverage -fprofile-update=atomic'
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ \
        -DCMAKE_C_FLAGS="$flags" -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_C_FLAGS_DEBUG= -DCMAKE_CXX_FLAGS_DEBUG= \
        -DCMAKE_EXE_LINKER_FLAGS="$link" -DCMAKE_SHARED_LINKER_FLAGS="$link" -DCMAKE_MODULE_LINKER_FLAGS="$link"
    cmake --build "$build" -j 2
    find "$build" -name '*.gcda' -delete
    ctest --test-dir "$build" -j 2 -L '^(unit|misuse|conformance|memory|gates)$' -LE '^long$' \
        -E '\.glibc$|^unit\.abtest' || true
    ctest --test-dir "$build" -j 2 -R '^(cli\.ctl|stress\.(short|guarded))$' || true
    gcovr --root . --filter core/ --xml-pretty -o "$report" "$build/core"
}

rm -f "$report"
count_lines >"$build/coverage.log" 2>&1 || { tail -n 30 "$build/coverage.log"; exit 1; }

# "FILE LINE HITS" for each line that has code.
sed -n 's/.* filename="\([^"]*\)".*/file \1/p; s/.*<line number="\([0-9]*\)" hits="\([0-9]*\)".*/line \1 \2/p' "$report" |
    awk '$1 == "file" { file = $2 } $1 == "line" { print file, $2, $3 }' | sort -u >"$build/lines"

# The words are paths without spaces.
# shellcheck disable=SC2046
awk -f scripts/coverage.awk scripts/coverage_reasons.txt "$build/lines" $(cut -d ' ' -f 1 "$build/lines" | sort -u)
