#!/bin/sh
# Prints what allocators catch of the misuse programs (tests/misuse) as Markdown: a table by kind of
# misuse, and one by program.
#
# A LIBRARY (a path without spaces) is preloaded, with its VARIABLEs set; an empty one is the libc's own
# allocator.  Each program runs --runs times (3) on each and ends by SIGABRT (abort), by another signal
# (fault), after a line on standard error (line), or having gained nothing (harmless): then it is caught.
# Else it goes on (no), or hangs.  "2 of 3": not caught in every run.  "-": the program can't be run there.
# SPDX-License-Identifier: MIT
set -eu
usage="usage: misuse_table.sh [--build DIR] [--runs N] NAME=LIBRARY[,VARIABLE=VALUE...]..."
project=$(cd "$(dirname "$0")/.." && pwd)
build=$project/out/release
runs=3
while :; do
    case ${1:-} in
    --build) build=${2:?$usage} ;;
    --runs) runs=${2:?$usage} ;;
    *=*) break ;;
    *) echo "$usage" >&2; exit 2 ;;
    esac
    shift 2
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# No core files; every shell that Debian has as sh knows the option.
# shellcheck disable=SC3045
ulimit -c 0

kind_of() {
    case $1 in
    double_free_* | realloc_after_free) echo "1 double free" ;;
    free_wrong_* | free_old_size | kinds_*) echo "3 free by a wrong size, alignment or kind" ;;
    free_* | realloc_* | usable_size_*) echo "2 pointer that is no block's" ;;
    overflow_* | underflow* | zero_size_* | read_past_*) echo "4 overflow, underflow" ;;
    read_after_* | use_after_* | write_after_*) echo "5 use after free" ;;
    read_fresh* | reuse_* | executable_*) echo "6 heap that helps an attacker" ;;
    *) echo "$1: of no kind that misuse_table.sh knows" >&2; exit 1 ;;
    esac
}

# outcome PROGRAM VARIABLE=VALUE...
outcome() {
    program=$1
    shift
    # In the background, as the shell would else write its own "Aborted".
    timeout 20 env "$@" "$program" >/dev/null 2>"$scratch/told" &
    status=0
    wait $! 2>/dev/null || status=$?
    case $status in
    0) if [ -s "$scratch/told" ]; then echo line; else echo no; fi ;;
    3) echo harmless ;;
    124) echo hangs ;;
    134) echo abort ;;
    13[2-9]) echo fault ;;
    *) echo - ;;
    esac
}

# cell PROGRAM VARIABLE=VALUE...: the outcome, or in how many of the runs it was a good one.
cell() {
    run=0
    while [ "$run" -lt "$runs" ]; do
        outcome "$@"
        run=$((run + 1))
    done | sort | uniq -c | awk '
        $2 ~ /^(abort|fault|line|harmless)$/ { caught += $1 }
        { total += $1; last = $2 }
        END { print NR == 1 ? last : caught == total ? "abort" : caught + 0 " of " total }'
}

for column in "$@"; do
    library=${column#*=}
    library=${library%%,*}
    if [ -n "$library" ] && [ -n "$(LD_PRELOAD=$library env true 2>&1)" ]; then
        echo "$library can't be preloaded" >&2
        exit 2
    fi
done

# Every program that says in its first line how it must end.
sources=$(grep -lE '^// (expect|hardened|guarded): ' "$project"/tests/misuse/*.c "$project"/tests/misuse/*.cc)
for source in $sources; do
    name=$(basename "${source%.c*}")
    [ -x "$build/tests/misuse/$name" ] || { echo "$build/tests/misuse/$name isn't built" >&2; exit 2; }
    kind=$(kind_of "$name")
    for column in "$@"; do
        settings=LD_PRELOAD=${column#*=}
        # One word for each setting.
        # shellcheck disable=SC2046
        echo "$kind|$name|${column%%=*}|$(cell "$build/tests/misuse/$name" $(echo "$settings" | tr , ' '))"
    done
done >"$scratch/cells"

sort -s -t'|' -k1,1 "$scratch/cells" >"$scratch/sorted"

awk -F'|' '
function rule(    i, text) { for (i = 0; i <= column_count; i++) text = text "|---"; return text "|" }
function heading(first,    i, text) {
    text = "| " first " |"
    for (i = 1; i <= column_count; i++) text = text " " columns[i] " |"
    return text "\n" rule()
}
{
    if (!($3 in known)) { known[$3]; columns[++column_count] = $3 }
    if ($1 != kinds[kind_count]) kinds[++kind_count] = $1
    if ($2 != programs[program_count]) programs[++program_count] = $2
    cells[$2, $3] = $4
    caught[$1, $3] += $4 ~ /^(abort|fault|line|harmless)$/
    apply[$1, $3] += $4 != "-"
}
END {
    print heading("caught, of the programs of a kind")
    for (i = 1; i <= kind_count; i++) {
        text = "| " substr(kinds[i], 3) " |"
        for (j = 1; j <= column_count; j++)
            text = text " " caught[kinds[i], columns[j]] " of " apply[kinds[i], columns[j]] " |"
        print text
    }
    print "\n" heading("program")
    for (i = 1; i <= program_count; i++) {
        text = "| " programs[i] " |"
        for (j = 1; j <= column_count; j++) text = text " " cells[programs[i], columns[j]] " |"
        print text
    }
}' "$scratch/sorted"
