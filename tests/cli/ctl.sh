#!/bin/sh
# `hakmem ctl` changes a setting of a program that runs, and of no other.
# SPDX-License-Identifier: MIT
# usage: ctl.sh HAKMEM PROGRAM
set -u
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
program=$2
mkdir control

# start WAY: starts the program and leaves its process number in $pid.
start() {
    : >started
    HAKMEM_CONTROL=$PWD/control "$program" "$1" >started &
    job=$!
    for _ in $(seq 100); do
        [ -s started ] && break
        sleep 0.1
    done
    pid=$(cat started)
}

start loop
[ "$(stat -c %a "control/hakmem.$pid")" = 600 ] || fault "the file is not its owner's alone"
try "$hakmem" ctl "$pid" huge_pages=off HAKMEM_DIRTY_LIMIT=3MiB
expect_status 0
try wait "$job"
expect_status 0
[ ! -e "control/hakmem.$pid" ] || fault "the file was left behind"

# A program that asks for no memory answers later.
start idle
try "$hakmem" ctl --wait 0.2 "$pid" dirty_limit=3MiB
expect_status 1
expect_match err 'No answer in 0.2 seconds'
kill "$job"

# A forked child has its parent's environment and no file of its own.
start fork
try "$hakmem" ctl "$pid" dirty_limit=3MiB
expect_status 1
expect_match err 'cannot be opened'
kill "$pid"

# Not this user's alone, or not what hakmem makes.
start loop
chmod 644 "control/hakmem.$pid"
try "$hakmem" ctl "$pid" dirty_limit=3MiB
expect_status 1
expect_match err 'is not a file that hakmem made for you'
chmod 600 "control/hakmem.$pid"
cp "control/hakmem.$pid" kept
rm "control/hakmem.$pid"
ln -s "$PWD/kept" "control/hakmem.$pid"
try "$hakmem" ctl "$pid" dirty_limit=3MiB
expect_status 1
expect_match err 'cannot be opened'
kill "$job"

# Wrong usage says what to do, and asks no program.
try "$hakmem" ctl $$ dirty_limit=3MiB
expect_status 1
expect_match err "was not started with HAKMEM_CONTROL"
try "$hakmem" ctl 999999999 dirty_limit=3MiB
expect_status 1
expect_match err 'there is none'
try "$hakmem" ctl $$ dirty_limt=3MiB
expect_status 2
expect_match err 'Did you mean HAKMEM_DIRTY_LIMIT'
try "$hakmem" ctl $$ dirty_limit=ten
expect_status 2
expect_match err 'is not a size'
try "$hakmem" ctl $$ bin_bytes=1k
expect_status 2
expect_match err 'is read when a program starts'
try "$hakmem" ctl $$ dirty_limit
expect_status 2
try "$hakmem" ctl x dirty_limit=1m
expect_status 2
try "$hakmem" ctl $$
expect_status 2

# Where no file can be made the program runs all the same.
try env HAKMEM_CONTROL="$PWD/missing" "$hakmem" run -- true
expect_status 0

finish
