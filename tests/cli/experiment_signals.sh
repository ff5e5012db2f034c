#!/bin/sh
# A signal that ends ab or compare ends all that was being measured.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"

wait_until() {
    for _ in $(seq 100); do
        sh -c "$1" 2>wait.err && return
        sleep 0.1
    done
    fault "after 10 seconds still not: $1"
}

cat >measured.sh <<'END'
sleep 300 &
echo $! >child
wait
END

tried="ab and compare, ended by a signal"
: >out
: >err
for command in "ab --b bin_bytes=off --runs 2 --measure time" "compare --allocators system --rounds 2"; do
    for signal in HUP:1 TERM:15; do
        rm -f child
        # shellcheck disable=SC2086  # the command and its options
        "$hakmem" $command -- sh measured.sh 2>err &
        pid=$!
        wait_until '[ -s child ]'
        kill -${signal%:*} $pid
        wait $pid
        status=$?
        expect_status $((128 + ${signal#*:}))
        wait_until "! kill -0 $(cat child)"
    done
done
finish
