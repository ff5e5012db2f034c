#!/bin/sh
# Under --stats a signal sent to hakmem reaches the program, and an ignored one stays ignored.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"

wait_for_file() {
    for _ in $(seq 100); do
        [ -e "$1" ] && return
        sleep 0.1
    done
    fault "$1 did not appear within 10 seconds"
}

cat >trapping.sh <<'END'
trap 'echo got $1 >caught; exit 7' $1
: >ready
for _ in $(seq 100); do sleep 0.1; done
END

tried="run --stats of a program with traps"
: >out
: >err
for signal in TERM USR1 USR2 HUP; do
    rm -f ready caught
    "$hakmem" run --stats=summary -- sh trapping.sh $signal &
    pid=$!
    wait_for_file ready
    kill -$signal $pid
    wait $pid
    status=$?
    expect_status 7
    [ "$(cat caught 2>&1)" = "got $signal" ] || fault "SIG$signal did not reach the program"
    expect_match summary 'ended with status 7'
done

# nohup ignores SIGHUP for the program; the parent that --stats needs must not undo that.
try sh -c "trap '' HUP; exec \"$hakmem\" run --stats=summary -- sh -c 'kill -HUP \$\$; echo alive'"
expect_status 0
expect_line out alive
finish
