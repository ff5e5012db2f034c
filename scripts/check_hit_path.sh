#!/bin/sh
# Follows malloc and free in the built library along the path on which no branch is taken, up to
# the first return, and fails when it holds more instructions than budgeted, a jump, a call or a
# stack frame.  Then it prints the path, each instruction with the source line that it comes from.
# SPDX-License-Identifier: MIT
set -eu
usage='usage: check_hit_path.sh LIBRARY FUNCTION BUDGET [FUNCTION BUDGET ...]'
library=${1:?$usage}
shift
[ $# -ge 2 ] || { echo "$usage"; exit 2; }
bad=0

while [ $# -ge 2 ]; do
    function=$1
    budget=$2
    shift 2

    # readelf, for objdump may know the function by another name of the same address.
    place=$(readelf -W --dyn-syms "$library" |
        awk -v name="$function" '{ sub(/@.*/, "", $8) } $8 == name && $7 != "UND" { print $2, $3; exit }')
    [ -n "$place" ] || { echo "$function: not exported by $library"; exit 1; }
    start=0x${place% *}
    bytes=${place#* }

    objdump -d -l --no-show-raw-insn --start-address="$start" \
        --stop-address=$((start + bytes)) "$library" | awk -v name="$function" -v budget="$budget" '
    /^[^ ].*:[0-9]+( \(discriminator [0-9]+\))?$/ {
        line = $1
        sub(/^.*\/core\//, "core/", line)
        next
    }
    /^ +[0-9a-f]+:\t/ {
        instruction = $0
        sub(/^ +[0-9a-f]+:\t/, "", instruction)
        gsub(/[ \t]+/, " ", instruction)
        listing[++count] = sprintf("  %3d  %-50s %s", count, instruction, line)
        word = instruction
        sub(/ .*/, "", word)
        if (word ~ /^(ret|repz)/) { returned = 1; exit }
        if (word ~ /^jmp/) { fault = "a jump on the way (instruction " count ")"; exit }
        if (word ~ /^call/) { fault = "a call on the way (instruction " count ")"; exit }
        if (word ~ /^(push|enter)/ || instruction ~ /^(sub|add|lea) .*,%rsp$/) {
            fault = "a stack frame (instruction " count ")"
        }
    }
    END {
        if (fault == "" && !returned) { fault = "no return was found" }
        if (fault == "" && count > budget) {
            fault = count " instructions, budget " budget ": over by " (count - budget)
        }
        if (fault == "") {
            printf "%s hit: %d instructions, budget %d\n", name, count, budget
            exit 0
        }
        printf "%s hit: %s\n", name, fault
        for (i = 1; i <= count; i++) { print listing[i]; split(listing[i], part, " core/"); per_line["core/" part[2]]++ }
        print "instructions by source line:"
        for (source in per_line) { printf "  %3d  %s\n", per_line[source], source | "sort -rn" }
        close("sort -rn")
        exit 1
    }' || bad=1
done
exit $bad
