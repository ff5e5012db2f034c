#!/bin/sh
# Installs what the tests need, builds, and runs them all but the long ones: sh scripts/test.sh
# SPDX-License-Identifier: MIT
#
# The release build runs every test.  The hardened build (assertions on) and the sanitizer builds run
# the unit and stress tests again, without a preload.  Exit status 0: all passed.
set -eu
cd "$(dirname "$0")/.."

sh scripts/setup.sh --for test

passed=0
failed=0
skipped=0
mkdir -p out

# A preset that could not be configured or built counts as one failure; the others go on.
build_preset()
{
    echo "== $1: build"
    if cmake --preset "$1" >"out/$1.configure.log" 2>&1 && cmake --build --preset "$1" >"out/$1.build.log" 2>&1; then
        grep -h 'left out' "out/$1.configure.log" || true
        return 0
    fi
    echo "== $1: it doesn't build"
    cat "out/$1.configure.log"
    tail -n 60 "out/$1.build.log" 2>/dev/null || true
    failed=$((failed + 1))
    return 1
}

# The number in an attribute of the first line of CTest's JUnit report.
report_number()
{
    sed -n "/<testsuite /,/>/s/.*$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1
}

# run_tests PRESET AT_ONCE LABEL_REGEX [LEFT_OUT_REGEX [LEFT_OUT_LABELS]]
run_tests()
{
    report=$PWD/out/$1.xml
    rm -f "$report"
    echo "== $1: tests ($3)"
    status=0
    ctest --test-dir "out/$1" -j "$2" -LE "^(${5:-long})\$" -L "$3" -E "${4:-^$}" --output-on-failure \
        --no-tests=error --output-junit "$report" || status=$?
    if [ ! -e "$report" ]; then
        failed=$((failed + 1))
        return
    fi
    total=$(report_number "$report" tests)
    bad=$(report_number "$report" failures)
    left=$(($(report_number "$report" skipped) + $(report_number "$report" disabled)))
    [ "$status" = 0 ] || [ "$bad" != 0 ] || bad=1
    passed=$((passed + total - bad - left))
    failed=$((failed + bad))
    skipped=$((skipped + left))
}

# The others look at memory, at the system or at whole programs, and have the machine to themselves.
two_at_once='unit|misuse|lint|model|gates|cli|bench|examples'
if build_preset release; then
    run_tests release 2 "^($two_at_once)\$"
    run_tests release 1 . '^$' "long|$two_at_once"
fi
# What takes a minute, what no build of the allocator changes, and the variants of another machine or another
# setting ran once above.
once='stress\.minute.*|unit\.abtest_simulation|unit\.fault_sweep.*|.*\.(pages_16k|pages_64k|below_39_bits|below_47_bits)'
once="$once|stress\.(hot|full|pool|no_bins|no_dirty_pages|guarded|hardened\..*|api\.hardened\..*|old_processor)"
for preset in hardened asan tsan; do
    if build_preset $preset; then
        run_tests $preset 2 '^(unit|stress)$' "^($once)\$"
    fi
done

if command -v clang >/dev/null && build_preset fuzz; then
    run_tests fuzz 1 '^fuzz$'
fi

echo
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
