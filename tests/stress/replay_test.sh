#!/bin/sh
# A seed replays the same operations: two runs must print the same digests, another seed others.
# SPDX-License-Identifier: MIT
set -eu
program=${1:?usage: replay_test.sh STRESS_PROGRAM}
first=$(${HAK_TEST_EMULATOR:-} "$program" --seed 4711 --ops 20000 --threads 1,4)
second=$(${HAK_TEST_EMULATOR:-} "$program" --seed 4711 --ops 20000 --threads 1,4)
other=$(${HAK_TEST_EMULATOR:-} "$program" --seed 4712 --ops 20000 --threads 1,4)
printf '%s\n' "$first"
if [ "$first" != "$second" ]; then
    printf 'the second run differs:\n%s\n' "$second"
    exit 1
fi
if [ "$(printf '%s' "$first" | grep digest)" = "$(printf '%s' "$other" | grep digest)" ]; then
    printf 'another seed gave the same run\n'
    exit 1
fi
