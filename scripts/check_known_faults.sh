#!/bin/sh
# Fails when a line of docs/reference/known-faults.md names no test and no limit, or a test that CTest hasn't.
# SPDX-License-Identifier: MIT
set -eu
usage='usage: check_known_faults.sh PAGE LIST_OF_TESTS, the list as ctest -N prints it'
page=${1:?$usage}
tests=${2:?$usage}
awk -v page="$page" '
NR == FNR {
    if (match($0, /Test +#[0-9]+: /)) {
        exists[substr($0, RSTART + RLENGTH)] = 1
    }
    next
}
/^\| [A-Z][0-9]+ \|/ {
    faults++
    text = $0
    tests_here = 0
    while (match(text, /`[a-z]+\.[a-z_0-9.]+`/)) {
        name = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
        tests_here++
        if (!(name in exists)) {
            print page ":" FNR ": there is no test " name
            bad = 1
        }
    }
    if (tests_here == 0 && $0 !~ /known limit: /) {
        print page ":" FNR ": neither a test nor a known limit"
        bad = 1
    }
}
END {
    if (faults == 0) {
        print page ": no table was found"
        bad = 1
    }
    if (!bad) {
        print faults " faults, each with a test that exists or a known limit"
    }
    exit bad
}' "$tests" "$page"
