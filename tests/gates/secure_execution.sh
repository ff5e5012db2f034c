#!/bin/sh
# A program that gains rights by being started ignores every setting.
# SPDX-License-Identifier: MIT
#
# usage: secure_execution.sh STATIC_GATE_PRINT
# Needs root, to hand a file to another user; exits 77 without.
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/../cli/cli_check.sh"
gate_print=$hakmem

if [ "$(id -u)" != 0 ] || ! setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    echo "this test needs root"
    exit 77
fi
chmod 755 "$work"
if ! setpriv --reuid 65534 --clear-groups ls "$work" >/dev/null 2>&1; then
    echo "the temporary folder cannot be entered by other users"
    exit 77
fi
cp "$gate_print" privileged
chmod 755 privileged

in_force() {
    try setpriv --reuid 65534 --clear-groups env HAKMEM_DIRTY_LIMIT=1MiB HAKMEM_VERBOSE=1 \
        HAKMEM_NONSENSE=1 HAKMEM_PROFILE="$work/profile" HAKMEM_STATS="$work/shared/figures" ./privileged HAKMEM_DIRTY_LIMIT HAKMEM_DIRTY_SHARE
    expect_status 0
}
mkdir -m 777 shared
echo HAKMEM_DIRTY_SHARE=77 >profile
chmod 644 profile

# Without rights to gain, the settings count: that is what the rest is compared with.
in_force
expect_line out HAKMEM_DIRTY_LIMIT=1MiB
expect_line out HAKMEM_DIRTY_SHARE=77
expect_match err HAKMEM_NONSENSE
[ -s shared/figures ] || fault "no figures were written"
rm shared/figures

chmod u+s privileged
in_force
expect_line out HAKMEM_DIRTY_LIMIT=8MiB
expect_line out HAKMEM_DIRTY_SHARE=12
expect_empty err
[ ! -e shared/figures ] || fault "figures were written with the rights of another user"
finish
