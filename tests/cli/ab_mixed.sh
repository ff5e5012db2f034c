#!/bin/sh
# The standard run, found beside the command, on two settings that are the same.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"

try "$hakmem" ab --a HAKMEM_TINY_PROFILE=conservative --b HAKMEM_TINY_PROFILE=conservative \
    --workload mixed --runs 2
expect_status 0
expect_line out 'bench_random_mixed 20000000 400 1'
expect_line out 'measured: throughput in M ops/s, higher is better'
expect_line out 'A: HAKMEM_TINY_PROFILE=conservative'
expect_line out 'B: HAKMEM_TINY_PROFILE=conservative'
expect_match out '^UNDECIDED: 2 rounds are too few'
# The throughput of the program itself, not some other number of its line.
expect_match out '^A  *2  *[0-9][0-9]*\.'
finish
