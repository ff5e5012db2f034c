#!/bin/sh
# `hakmem gates` and `hakmem profiles` tell every row of their tables, in three forms.
# SPDX-License-Identifier: MIT
#
# usage: tables.sh HAKMEM POLICY_FOLDER
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
policy=$2

gates=$(sed -n 's/^GATE_.*"\(HAKMEM_[A-Z0-9_]*\)".*/\1/p' "$policy/gates.def")
profiles=$(sed -n 's/^PROFILE("\([^"]*\)".*/\1/p' "$policy/profiles.def")
[ "$(echo "$gates" | wc -l)" -ge 10 ] || fault "the gates could not be read from gates.def"
[ "$(echo "$profiles" | wc -l)" -ge 3 ] || fault "the profiles could not be read"

for table in gates profiles; do
    if [ $table = gates ]; then rows=$gates; else rows=$profiles; fi
    for form in "" --json --markdown; do
        try "$hakmem" $table $form
        expect_status 0
        expect_empty err
        for row in $rows; do
            case $form in
            --json) expect_match out "^ *\"name\": \"$row\",\$" ;;
            --markdown) expect_match out "^| \`$row\` |" ;;
            *) expect_match out "^$row\( \|\$\)" ;;
            esac
        done
    done
    # A document has as many rows as the table has, and each line of Markdown as many cells.
    try "$hakmem" $table --json
    [ "$(grep -c '^    "name": ' out)" = "$(echo "$rows" | wc -l)" ] || fault "rows are missing"
    try "$hakmem" $table --markdown
    [ "$(sed 's/\\|//g; s/[^|]//g' out | sort -u | wc -l)" = 1 ] || fault "cells are missing"
    try "$hakmem" $table extra
    expect_status 2
    try "$hakmem" $table --jsn
    expect_status 2
done

# What the environment changes is shown, in its place.
try env HAKMEM_DIRTY_LIMIT=16384k "$hakmem" gates
expect_line out "    now: 16MiB"
try "$hakmem" gates
expect_no_match out 'now:'
try env HAKMEM_DIRTY_LIMIT=16384k "$hakmem" gates --json
expect_match out '"value": "16MiB"'
finish
