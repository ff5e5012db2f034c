#!/bin/sh
# shellcheck disable=SC2016  # single-quoted text is meant as it stands
# Help fits on a screen, wrong usage is told, and the version is that of the project.
# SPDX-License-Identifier: MIT
#
# usage: help.sh HAKMEM VERSION
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
version=$2

expect_screen() {
    expect_status 0
    expect_empty err
    expect_match out '^Usage: hakmem'
    [ "$(wc -l <out)" -le 24 ] || fault "more than 24 lines"
    [ "$(awk 'length > 80' out | wc -l)" = 0 ] || fault "a line is over 80 columns"
}
try "$hakmem" help
expect_screen
cp out top
for name in --help -h; do
    try "$hakmem" $name
    expect_screen
    cmp -s top out || fault "it differs from hakmem help"
done
for name in run ab compare bench record replay tune ctl doctor gates profiles version; do
    expect_match top "^  $name "
    try "$hakmem" $name --help
    expect_screen
    cp out long
    try "$hakmem" help $name
    expect_screen
    cmp -s long out || fault "hakmem help $name differs from hakmem $name --help"
done

try "$hakmem"
expect_status 2
expect_empty out
expect_match err '^Usage: hakmem'
try "$hakmem" rnu -- true
expect_status 2
expect_line err 'hakmem: rnu is not a command. Did you mean run?'
try "$hakmem" ls
expect_status 2
expect_line err 'hakmem: ls is not a command. `hakmem help` lists them; to run a program, write `hakmem run -- PROGRAM`.'
try "$hakmem" help nothing
expect_status 2

for name in version --version -V; do
    try "$hakmem" $name
    expect_status 0
    expect_line out "hakmem $version"
    expect_match out "^library $version /.*/libhakmem\.so"
done

# Output that can't be written is a failure.
for name in help gates profiles version doctor; do
    status=0
    tried="$name >/dev/full"
    "$hakmem" $name >/dev/full 2>err || status=$?
    expect_status 1
    expect_line err 'hakmem: The output could not be written.'
done
finish
