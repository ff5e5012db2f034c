#!/bin/sh
# Fails when libhakmem.so exports a name that isn't in the list, lacks one that is, or needs more than
# libc.  `check_exports.sh LIBRARY LIST --update` writes the list instead.
# SPDX-License-Identifier: MIT
set -eu
usage='usage: check_exports.sh LIBRARY LIST [--update]'
library=${1:?$usage}
list=${2:?$usage}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Type A is the name of a version, not of a function.
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    LC_ALL=C sort -u >"$scratch/exports"
[ -s "$scratch/exports" ] || { echo "$library exports nothing"; exit 1; }

if [ "${3:-}" = --update ]; then
    {
        echo "# Every name that libhakmem.so exports.  Written by scripts/check_exports.sh --update."
        cat "$scratch/exports"
    } >"$list"
    exit 0
fi

bad=0
grep -v '^#' "$list" | LC_ALL=C sort -u >"$scratch/list"
LC_ALL=C comm -23 "$scratch/exports" "$scratch/list" | sed 's/^/exported but not listed: /' >"$scratch/differences"
LC_ALL=C comm -13 "$scratch/exports" "$scratch/list" | sed 's/^/listed but not exported: /' >>"$scratch/differences"
if [ -s "$scratch/differences" ]; then
    cat "$scratch/differences"
    bad=1
fi

dynamic=$(readelf -d "$library")
needed=$(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
if [ "$needed" != "libc.so.6 " ]; then
    echo "it needs $needed: only libc.so.6 is allowed"
    bad=1
fi
for flag in NODELETE NOW; do
    echo "$dynamic" | grep -q "(FLAGS_1).* $flag\b" || { echo "it lacks the flag $flag (-z)"; bad=1; }
done
echo "$dynamic" | grep -q '(SONAME).*\[libhakmem\.so\.[0-9]*\]' || { echo "it has no SONAME"; bad=1; }
if echo "$dynamic" | grep -q '(TEXTREL)'; then
    echo "it has text relocations"
    bad=1
fi

[ $bad = 0 ] && echo "$(wc -l <"$scratch/exports") names exported, as listed; needs libc only"
exit $bad
