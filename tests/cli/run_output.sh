#!/bin/sh
# The program's input, output and open files are the same as without hakmem.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"

head -c 300000 /bin/sh >input
for stats in "" --stats=summary; do
    try "$hakmem" run $stats -- cat <input
    expect_status 0
    cmp -s input out || fault "the bytes changed on their way through"
    expect_empty err

    try "$hakmem" run $stats -- sh -c 'echo to out; echo to err >&2'
    [ "$(cat out)" = "to out" ] || fault "standard output is not the program's"
    [ "$(cat err)" = "to err" ] || fault "standard error is not the program's"

    # One more is that of the folder which is listed.
    sh -c 'ls /proc/self/fd | wc -l' >plain_count
    try "$hakmem" run $stats -- sh -c 'ls /proc/self/fd | wc -l'
    cmp -s plain_count out || fault "the program has $(cat out) open files, not $(cat plain_count)"

    # A program whose name and arguments hold odd letters.
    try "$hakmem" run $stats -- printf '%s|' -- '--stats' 'a b' '' '*'
    [ "$(cat out)" = "--|--stats|a b||*|" ] || fault "the arguments changed"
done

# The program is this very process, so whoever started it can tell it by its id.
"$hakmem" run -- sh -c 'echo $$' >own_pid &
pid=$!
wait $pid
[ "$(cat own_pid)" = $pid ] || fault "the program runs in another process than hakmem did"
finish
