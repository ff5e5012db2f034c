#!/bin/sh
# shellcheck disable=SC2016  # single-quoted text is meant as it stands
# A program on the library has the settings of its environment; the library is silent about wrong
# ones unless it is asked.
# SPDX-License-Identifier: MIT
#
# usage: settings_in_force.sh GATE_PRINT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/../cli/cli_check.sh"
gate_print=$hakmem

# in_force EXPECTED NAME=value...: the first gate that is printed is EXPECTED's.
in_force() {
    expected=$1
    shift
    try env "$@" "$gate_print" "${expected%%=*}"
    expect_status 0
    expect_line out "$expected"
    expect_empty err
}
in_force HAKMEM_DIRTY_LIMIT=8MiB
in_force HAKMEM_DIRTY_LIMIT=16MiB HAKMEM_DIRTY_LIMIT=16m
in_force HAKMEM_DIRTY_LIMIT=off HAKMEM_DIRTY_LIMIT=0
in_force HAKMEM_DIRTY_LIMIT=1MiB HAKMEM_PROFILE=lean
in_force HAKMEM_PROFILE=lean HAKMEM_PROFILE=lean
in_force HAKMEM_DIRTY_LIMIT=3MiB HAKMEM_PROFILE=lean HAKMEM_DIRTY_LIMIT=3MiB
in_force HAKMEM_DIRTY_SHARE=2 HAKMEM_PROFILE=lean HAKMEM_DIRTY_LIMIT=3MiB
in_force HAKMEM_TINY_PROFILE=full HAKMEM_TINY_PROFILE=full

# Wrong ones keep what was before, without a word.
in_force HAKMEM_DIRTY_LIMIT=8MiB HAKMEM_DIRTY_LIMIT=ten
in_force HAKMEM_DIRTY_LIMIT=1MiB HAKMEM_PROFILE=lean HAKMEM_DIRTY_LIMIT=ten
in_force HAKMEM_DIRTY_LIMIT=8MiB HAKMEM_PROFILE=leen
in_force HAKMEM_VERBOSE=off HAKMEM_DRITY_LIMIT=1MiB

# Asked, it says each once.
try env HAKMEM_VERBOSE=1 HAKMEM_DIRTY_LIMIT=ten HAKMEM_DRITY_SHARE=1 "$gate_print" HAKMEM_DIRTY_LIMIT
expect_status 0
expect_line out HAKMEM_DIRTY_LIMIT=8MiB
expect_line err 'hakmem: HAKMEM_DIRTY_LIMIT=ten is not a size; using 8MiB. Give a size up to 1TiB, or off; a size is bytes with a unit, e.g. 16MiB.'
expect_line err 'hakmem: HAKMEM_DRITY_SHARE is not a setting of hakmem; ignored. Did you mean HAKMEM_DIRTY_SHARE? `hakmem gates` lists them.'
[ "$(wc -l <err)" = 2 ] || fault "expected two sentences"
finish
