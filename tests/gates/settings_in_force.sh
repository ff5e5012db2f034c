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

# The memo's profiles bring in its front; one variable takes it out again.
in_force HAKMEM_ALLOC_ROUTE_SHAPE=1 HAKMEM_PROFILE=MIXED_TINYV3_C7_SAFE
in_force HAKMEM_ALLOC_GATE_SHAPE=1 HAKMEM_PROFILE=MIXED_TINYV3_C7_SAFE HAKMEM_ALLOC_GATE_SHAPE=1
in_force HAKMEM_ALLOC_GATE_SHAPE=0 HAKMEM_PROFILE=BASELINE
for gate in HAKMEM_ALLOC_GATE_SHAPE HAKMEM_ALLOC_ROUTE_SHAPE HAKMEM_TINY_STATIC_ROUTE HAKMEM_FREE_STATIC_ROUTE; do
    in_force $gate=fused HAKMEM_PROFILE=default
done

# A profile may be a file.
printf '# mine\n\nHAKMEM_DIRTY_LIMIT=3MiB\nHAKMEM_DIRTY_SHARE=lots\n' >my.profile
in_force HAKMEM_DIRTY_LIMIT=3MiB HAKMEM_PROFILE=./my.profile
in_force HAKMEM_DIRTY_SHARE=12 HAKMEM_PROFILE=./my.profile
in_force HAKMEM_PROFILE=./my.profile HAKMEM_PROFILE=./my.profile
in_force HAKMEM_DIRTY_LIMIT=1MiB HAKMEM_PROFILE=./my.profile HAKMEM_DIRTY_LIMIT=1MiB
in_force HAKMEM_DIRTY_LIMIT=8MiB HAKMEM_PROFILE=my.profile
in_force HAKMEM_DIRTY_LIMIT=8MiB HAKMEM_PROFILE=./no.profile

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
try env HAKMEM_VERBOSE=1 HAKMEM_PROFILE=./my.profile "$gate_print" HAKMEM_DIRTY_LIMIT
expect_line err 'hakmem: ./my.profile, line 4: HAKMEM_DIRTY_SHARE=lots is not a whole number; using 12. Give 0 to 100.'
[ "$(wc -l <err)" = 1 ] || fault "expected one sentence"
try env HAKMEM_VERBOSE=1 HAKMEM_PROFILE=./no.profile "$gate_print" HAKMEM_DIRTY_LIMIT
expect_line err 'hakmem: HAKMEM_PROFILE=./no.profile cannot be read; ignored. Give the path of a text file of lines GATE=VALUE.'
[ "$(wc -l <err)" = 1 ] || fault "expected one sentence"
finish
