#!/bin/bash
# Debian's python3 runs its own tests of lists, dictionaries, JSON, threads and subprocesses.
# SPDX-License-Identifier: MIT
#
# Timed are the first three; the tests of threads and subprocesses mostly wait.
. "$(dirname "$0")/support.sh" || exit 2
python=/usr/bin/python3
program_needs $python python3
if ! $python -c 'import test.test_list' 2>/dev/null; then
    echo "programs.python: skipped, python3's own tests aren't installed (apt-get install libpython3.11-testsuite)"
    exit 77
fi

workload() {
    mkdir tmp
    export TMPDIR=$side_dir/tmp
    timed "${under[@]}" $python -m test -v test_list test_dict test_json 2>&1
    "${under[@]}" $python -m test -v -j2 test_threading test_subprocess 2>&1
}

# The names of the tests and the counts, sorted: two files run at once, times differ each run, and
# tests that print put their text between a test's name and its result.
normalise() {
    sed -nE '
        s/^(test[A-Za-z0-9_]* \([a-zA-Z0-9_.]+\)).* \.\.\. (skipped .*)?.*/\1 \2/p
        s/^(Ran [0-9]+ tests).*/\1/p
        /^(OK|FAILED|Result:|Tests result:|.* tests? (OK|failed|skipped))/p' | sort
}

program_run python3
