# What the tests of the command share; read in with `. cli_check.sh`.
# SPDX-License-Identifier: MIT
#
# Each test is called with the path of hakmem and works in a folder of its own, which is the current
# one.  `try` runs a command and keeps its status and output; the expect functions look at them.
# shellcheck shell=sh
# shellcheck disable=SC2034  # the variables are the tests'

hakmem=$1
fault_count=0
status=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# What the caller's environment says must not reach the tests.
for name in $(env | sed -n 's/^\(HAKMEM_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done
unset LD_PRELOAD

try() {
    status=0
    "$@" >out 2>err || status=$?
    tried=$*
}

fault() {
    fault_count=$((fault_count + 1))
    echo "FAULT after: $tried"
    echo "  $*"
    sed 's/^/  out: /' out
    sed 's/^/  err: /' err
}

expect_status() {
    [ "$status" = "$1" ] || fault "expected status $1, got $status"
}

# expect_line FILE TEXT: the file has exactly this line.
expect_line() {
    grep -Fqx -- "$2" "$1" || fault "expected in $1 the line: $2"
}

# expect_match FILE PATTERN: a line matches the basic regular expression.
expect_match() {
    grep -q -- "$2" "$1" || fault "expected in $1 a match of: $2"
}

expect_no_match() {
    ! grep -q -- "$2" "$1" || fault "expected in $1 no match of: $2"
}

expect_empty() {
    [ ! -s "$1" ] || fault "expected $1 to be empty"
}

finish() {
    [ "$fault_count" = 0 ] || exit 1
    echo "as expected"
    exit 0
}
