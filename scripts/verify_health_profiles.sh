#!/bin/sh
# Is every profile sound?  One line each: tests, a short stress, three speeds against the default's.
# SPDX-License-Identifier: MIT
set -eu

usage()
{
    cat <<'TEXT'
usage: verify_health_profiles.sh [--short] [--build DIR] [--library FILE] [PROFILE...]
Runs the quick tests, a stress test and three workloads under each profile, or under those named.

  --short         for a minute only: few and short rounds, so the ratios say little
  --build DIR     a build with its tests (default out/release)
  --library FILE  the libhakmem.so to test (default: the build's)

A ratio is the profile's speed over the default's, the median of rounds in turns; above 1 is faster.
On a busy machine the row "default" shows how far two equal sides differ.  The exit status is that of
the worst: 0 all tests passed, 1 a test failed, 2 wrong usage.  No ratio is a failure.
TEXT
}

refuse()
{
    echo "verify_health_profiles.sh: $1" >&2
    exit 2
}

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/out/release
library=
rounds=5
scale=20
stress_seconds=5
profiles=
while [ $# -gt 0 ]; do
    case $1 in
    --short) rounds=3 scale=4 stress_seconds=1 ;;
    --build | --library)
        [ $# -ge 2 ] || refuse "$1 takes a value. See --help."
        [ "$1" = --library ] || build=$2
        [ "$1" = --build ] || library=$2
        shift
        ;;
    --help) usage && exit 0 ;;
    -*) refuse "there is no option $1. See --help." ;;
    *) profiles="$profiles $1" ;;
    esac
    shift
done
library=${library:-$build/libhakmem.so}
for file in "$library" "$build/cli/hakmem" "$build/tests/stress/stress_libc" "$build/tests/unit/gates_test" \
    "$build/tests/misuse/double_free_tiny" "$build/tests/gates/gate_print"; do
    [ -e "$file" ] || refuse "$file isn't there. Build first: make"
done

# What the caller's environment says must not reach the tests.
for name in $(env | sed -n 's/^\(HAKMEM_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done
unset LD_PRELOAD

all=$("$build/cli/hakmem" profiles | grep '^[^ ]')
for profile in $profiles; do
    echo "$all" | grep -qx "$profile" || refuse "$profile is not a profile. \`hakmem profiles\` lists them."
done
profiles=${profiles:-$all}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# try NAME COMMAND...: counts a test, and keeps the end of what a failed one said.
try()
{
    name=$1
    shift
    test_count=$((test_count + 1))
    status=0
    HAKMEM_PROFILE=$profile timeout 300 "$@" >"$scratch/said" 2>&1 || status=$?
    if [ $status != 0 ] && [ $status != 77 ]; then
        failed="$failed $name"
        { echo "== $profile: $name ended with status $status"; tail -n 15 "$scratch/said"; } >>"$scratch/faults"
    fi
}

# The quick ones: what takes longer than a second or two each is left to CTest.
run_tests()
{
    test_count=0
    failed=
    # Is the profile in force?
    # shellcheck disable=SC2016  # the inner shell reads them
    try in_force sh -c '[ "$(LD_PRELOAD=$1 "$2" HAKMEM_PROFILE)" = "HAKMEM_PROFILE=$HAKMEM_PROFILE" ]' sh \
        "$library" "$build/tests/gates/gate_print"
    for program in "$build"/tests/unit/*_test; do
        try "unit.$(basename "$program" _test)" "$program"
    done
    for source in "$root"/tests/misuse/*.c; do
        name=$(basename "$source" .c)
        head -n 1 "$source" | grep -q '^// [a-z]*: ' || continue # it says not how it ends
        [ "$name" != double_free_after_thousands ] || continue   # told at once only where a class has bins
        try "misuse.$name" "$root/tests/misuse/run_misuse.sh" "$source" "$build/tests/misuse/$name" "$library"
    done
    for name in alignment zero_size huge_size errno_kept usable_size figures libc_blocks free_sized first_use \
        small_stack shrinking_realloc first_call_is_a_free; do
        try "conformance.$name" env LD_PRELOAD="$library" HAK_TEST_PRELOAD=hak_version \
            "$build/tests/conformance/${name}_test"
    done
}

run_stress()
{
    try stress env LD_PRELOAD="$library" HAK_TEST_PRELOAD=hak_version \
        "$build/tests/stress/stress_libc" --seconds $stress_seconds --threads 1,4
}

# figure_of PROFILE N: the speed of one of the three workloads.
figure_of()
{
    under=$1
    case $2 in
    1) set -- bench_random_mixed $((scale * 250000)) 400 1 ;;
    2) set -- bench_random_mixed $((scale * 250000)) 400 1 --c6 ;;
    3) set -- bench_async_pool 2 $((scale * 2000)) ;;
    esac
    program=$1
    shift
    HAKMEM_PROFILE=$under LD_PRELOAD=$library "$build/bench/$program" "$@" --json |
        sed -n 's/.*"figure": \([0-9.]*\),.*/\1/p'
}

# The median over the rounds of the profile's speed by the default's.
ratio()
{
    : >"$scratch/ratios"
    round=0
    while [ $round -lt $rounds ]; do
        ours=$(figure_of "$profile" "$1")
        default=$(figure_of default "$1")
        echo "${ours:-0} ${default:-0}" | awk '{ print ($2 > 0 ? $1 / $2 : 0) }' >>"$scratch/ratios"
        round=$((round + 1))
    done
    sort -n "$scratch/ratios" | awk '{ row[NR] = $1 } END { printf "%.2f", row[int((NR + 1) / 2)] }'
}

printf '%-26s %-10s %-8s %6s %6s %6s\n' profile tests stress mixed c6 async
for profile in $profiles; do
    run_tests
    tests=$test_count
    stress=ok
    run_stress
    case $failed in *' stress') stress=FAILED ;; esac
    [ -z "$failed" ] || bad=1
    case ${failed% stress} in '') verdict="$tests ok" ;; *) verdict=FAILED ;; esac
    printf '%-26s %-10s %-8s' "$profile" "$verdict" $stress
    for number in 1 2 3; do
        printf ' %6s' "$(ratio $number)"
    done
    printf '%s\n' "${failed:+  failed:$failed}"
done
[ $bad = 0 ] || cat "$scratch/faults" >&2
exit $bad
