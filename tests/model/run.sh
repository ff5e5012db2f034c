#!/bin/sh
# Searches every state of the models beside the code: sh tests/model/run.sh MODEL.pml...
# SPDX-License-Identifier: MIT
#
# A model must hold as it stands, with every line reached; and with each of its bugs (a name BUG_... that
# an #ifdef asks for) the search must find an error.  Exit 77: spin or gcc isn't here.
set -eu
[ $# -gt 0 ] || { echo "usage: run.sh MODEL.pml..." >&2; exit 2; }
for tool in spin gcc; do
    command -v $tool >/dev/null || { echo "$tool isn't installed: the models aren't checked"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

# search MODEL OPTIMISATION [OPTION...]: what the search said stays in $scratch/said.
search()
{
    cp "$1" "$scratch/model.pml"
    optimisation=$2
    shift 2
    (
        cd "$scratch"
        rm -f pan.* model.pml.trail
        spin "$@" -a model.pml >spin.log 2>&1 || { cat spin.log; exit 1; }
        gcc "$optimisation" -w -DSAFETY -DMEMLIM=2000 -o pan pan.c
        ./pan -m1000000 >said 2>&1 || { cat said; exit 1; }
    )
}

# The lines of the model whose transitions no run takes, in whatever place they are used.  Steps on local
# variables that spin joins to the step before them aren't seen.
unreached_lines()
{
    "$scratch/pan" -d >"$scratch/states"
    awk '
    /^unreached in/        { process = $3 "|" $4 }
    /^proctype|^init|^claim/ { process = $1 "|" $2 }
    FNR == NR {
        if (match($0, /model\.pml:[0-9]+, state [0-9]+/)) {
            split(substr($0, RSTART, RLENGTH), part, /[:, ]+/)
            unreached[process, part[4]] = 1
        }
        next
    }
    /^\tstate/ && match($0, /model\.pml:[0-9]+/) {
        line = substr($0, RSTART + 10, RLENGTH - 10)
        seen[line] = 1
        if (!((process, $2) in unreached)) {
            reached[line] = 1
        }
    }
    END {
        for (line in seen) {
            if (!(line in reached)) {
                print line
            }
        }
    }' "$scratch/said" "$scratch/states" | sort -n | tr '\n' ' '
}

complain()
{
    echo "$1"
    cat "$scratch/said"
    bad=1
}

for model in "$@"; do
    name=$(basename "$model")
    search "$model" -O1
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$scratch/said")
    unreached=$(unreached_lines)
    if ! grep -q 'errors: 0$' "$scratch/said"; then
        complain "$name: an error"
        (cd "$scratch" && spin -t -p -g model.pml | tail -n 60)
    elif grep -q 'max search depth too small\|Search not completed\|out of memory' "$scratch/said"; then
        complain "$name: the search was cut short"
    elif [ -n "$unreached" ]; then
        complain "$name: no run reaches line $unreached"
    else
        echo "$name: holds in $states states"
    fi
    bugs=$(sed -n 's/^ *# *if.*\(BUG_[A-Z_]*\).*/\1/p' "$model" | sort -u)
    [ -n "$bugs" ] || { echo "$name: it has no seeded bug"; bad=1; }
    for bug in $bugs; do
        search "$model" -O0 "-D$bug"
        if ! grep -q '^pan:1: ' "$scratch/said"; then
            complain "$name: $bug was not found"
        else
            echo "$name: $bug: $(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' "$scratch/said")"
        fi
    done
done
exit $bad
