#!/bin/sh
# Tests compare.sh: a table with an interval, and a loud end when the allocator isn't the one named.
# SPDX-License-Identifier: MIT
set -eu
[ $# = 3 ] || { echo "usage: check_compare.sh COMPARE_SH BUILD_DIR LIBRARY" >&2; exit 2; }
compare=$1
build=$2
library=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail()
{
    cat "$scratch/out" "$scratch/err"
    echo "$1"
    exit 1
}

# expect STATUS PATTERN ARGUMENT...: runs compare.sh on a small workload.
expect()
{
    expected=$1
    pattern=$2
    shift 2
    status=0
    sh "$compare" --build "$build" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    [ "$status" = "$expected" ] || fail "'$*' ended with $status, expected $expected"
    cat "$scratch/out" "$scratch/err" | grep -Eq -- "$pattern" || fail "'$*': no line matches $pattern"
}

libm=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '$1 == "libm.so.6" { print $NF; exit }')
small="bench_teardown 200 16 64 1"

# The words are a workload and its arguments.
# shellcheck disable=SC2086
{
    expect 0 '^  hakmem .* [0-9.]+ to [0-9.]+ ' --rounds 6 --raw "$scratch/raw" glibc "hakmem=$library" -- $small
    [ "$(wc -l <"$scratch/raw")" = 12 ] || fail "--raw must keep 12 runs"
    [ "$(grep -c '"allocator": "hakmem"' "$scratch/raw")" = 6 ] || fail "--raw must name hakmem six times"
    expect 0 '^\| twin \|.*\| needs 6 rounds \|' --rounds 2 --markdown "hakmem=$library" "twin=$library" -- $small
    expect 1 'meant for libm .*but glibc ' --rounds 1 glibc "libm=$libm" -- $small
    expect 1 'was named mimalloc, but the program finds hakmem' --rounds 1 "mimalloc=$library" -- $small
}
printf '#!/bin/sh\necho "I am fast"\n' >"$scratch/boaster"
chmod +x "$scratch/boaster"
expect 1 'printed no JSON line' --rounds 1 glibc -- "$scratch/boaster"
expect 2 "must be a whole number from 1 to 500, not 'many'" --rounds many glibc
expect 2 'give at least one allocator' --rounds 1
expect 2 'no allocator known here' nothing
echo "compare.sh proves what ran, and says when it can't"
