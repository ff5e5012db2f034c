#!/bin/sh
# A program under an audit library (LD_AUDIT) says the same with and without the preload.
# Usage: audit_test.sh AUDIT_LIBRARY HAKMEM_LIBRARY PROGRAM
# SPDX-License-Identifier: MIT
set -eu

audit=$1
library=$2
program=$3

expected=$(LD_AUDIT=$audit ls -l /usr/bin 2>&1) || {
    echo "skipped: ls does not run under the audit library"
    exit 77
}
actual=$(LD_AUDIT=$audit LD_PRELOAD=$library ls -l /usr/bin 2>&1) || {
    printf 'ls failed: %s\n' "$actual" >&2
    exit 1
}
if [ "$expected" != "$actual" ]; then
    printf 'expected:\n%s\ngot:\n%s\n' "$expected" "$actual" >&2
    exit 1
fi

# PROGRAM has threads, and insists on the preload.
HAK_TEST_PRELOAD=hak_version LD_AUDIT=$audit LD_PRELOAD=$library "$program"
