#!/bin/sh
# Writes docs/reference/environment.md from the tables of the hakmem command.
# SPDX-License-Identifier: MIT
#
# usage: make_reference.sh HAKMEM           writes the page
#        make_reference.sh --check HAKMEM   fails when the committed page differs
set -eu

check=no
if [ "${1:-}" = --check ]; then
    check=yes
    shift
fi
hakmem=${1:?usage: make_reference.sh [--check] HAKMEM}
page=$(dirname "$0")/../docs/reference/environment.md

# The page is about the defaults, whatever the caller has set.
for name in $(env | sed -n 's/^\(HAKMEM_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done

made=$(mktemp)
trap 'rm -f "$made"' EXIT
{
    cat <<'END'
# Settings

This page is made by `scripts/make_reference.sh` from `core/policy/gates.def` and
`core/policy/profiles.def`. Change those, not this.

A setting is an environment variable that is read once, when a program allocates for the first time.
`hakmem run --set GATE=VALUE` sets one for a program; `hak_ctl_set` changes those that are read
*live* while it runs. A setting that is given wins over the profile, and the profile over the
default. A value that isn't understood is ignored; `hakmem doctor`, `hakmem run`, and the library
under `HAKMEM_VERBOSE=on`, say so. Programs that run with rights of another user ignore all settings.

A size is a number of bytes or has a unit: `k`, `KB` and `KiB` all mean 1024 bytes, and likewise for
M, G and T.

## Gates

END
    "$hakmem" gates --markdown
    cat <<'END'

`HAKMEM_LIBRARY` is read by the `hakmem` command, not by the library: the path of the `libhakmem.so`
to preload.

## Profiles

`HAKMEM_PROFILE=NAME` chooses one.

END
    "$hakmem" profiles --markdown
} >"$made"

if [ $check = no ]; then
    cat "$made" >"$page"
elif ! diff -u "$page" "$made"; then
    echo "docs/reference/environment.md is not up to date. Run: sh scripts/make_reference.sh $hakmem"
    exit 1
else
    echo "docs/reference/environment.md is up to date"
fi
