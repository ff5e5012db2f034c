#!/bin/sh
# `hakmem run` gives back the program's exit status, with and without --stats.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"

printf 'no header\n' >plain_file
mkdir a_folder

for stats in "" --stats; do
    for wanted in 0 1 2 3 127 255; do
        try "$hakmem" run $stats -- sh -c "exit $wanted"
        expect_status $wanted
    done
    try "$hakmem" run $stats -- sh -c 'kill -TERM $$'
    expect_status 143
    try "$hakmem" run $stats -- sh -c 'kill -KILL $$'
    expect_status 137

    try "$hakmem" run $stats -- ./is_not_there
    expect_status 127
    expect_line err "hakmem: ./is_not_there was not found."
    try "$hakmem" run $stats -- is_not_there_either
    expect_status 127
    try "$hakmem" run $stats -- ./plain_file
    expect_status 126
    expect_line err "hakmem: ./plain_file could not be started: Permission denied."
    try "$hakmem" run $stats -- ./a_folder
    expect_status 126
done

# Without --, options after the program's name are the program's.
try "$hakmem" run sh -c 'exit 9'
expect_status 9
try "$hakmem" run --stats sh -c 'exit 9'
expect_status 9
finish
