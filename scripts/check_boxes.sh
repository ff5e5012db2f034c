#!/bin/sh
# Fails when a box header doesn't open with its five lines, or when one of them isn't true.  A long
# line goes on in "//   " lines.
# SPDX-License-Identifier: MIT
#
#   // Box: <name> - <what it is>            the file is <name>_box.h
#   // Boundary: <caller> -> <callee>. ...   both are in LAYERS, the caller above the callee
#   // Gate: HAKMEM_<NAME> ...               is in gates.def
#   // Cost: ...
#   // Record: docs/analysis/<file>          exists
set -eu
root=${1:?usage: check_boxes.sh PROJECT_DIR}
cd "$root"
bad=0
count=0

complain()
{
    echo "$1: $2"
    bad=1
}

# The number of the line in LAYERS, or 0.
rank_of()
{
    grep -v '^#' core/LAYERS | grep -n "^$1\$" | cut -d: -f1 | grep . || echo 0
}

for box in core/box/*_box.h; do
    [ -e "$box" ] || continue
    count=$((count + 1))
    complaint=$(awk '
        BEGIN { split("Box Boundary Gate Cost Record", word, " ") }
        /^\/\/   / && found > 0 { next }
        index($0, "// " word[found + 1] ": ") == 1 { if (++found == 5) { exit }; next }
        { exit }
        END { if (found < 5) { print "line " NR " must be \047// " word[found + 1] ": ...\047" } }' "$box")
    [ -z "$complaint" ] || complain "$box" "$complaint"

    name=$(sed -n 's|^// Box: \([a-z0-9_]*\) - .*|\1|p' "$box")
    [ "core/box/${name}_box.h" = "$box" ] || complain "$box" "the Box line names '$name'"

    caller=$(sed -n 's|^// Boundary: \([a-z]*\) -> .*|\1|p' "$box")
    callee=$(sed -n 's|^// Boundary: [a-z]* -> \([a-z]*\).*|\1|p' "$box")
    high=$(rank_of "$caller")
    low=$(rank_of "$callee")
    if [ "$high" = 0 ] || [ "$low" = 0 ] || [ "$high" -le "$low" ]; then
        complain "$box" "Boundary '$caller -> $callee' doesn't lead down core/LAYERS"
    fi

    gate=$(sed -n 's|^// Gate: \(HAKMEM_[A-Z0-9_]*\).*|\1|p' "$box")
    grep -q "\"${gate:-none}\"" core/policy/gates.def || complain "$box" "gate '$gate' isn't in gates.def"

    record=$(sed -n 's|^// Record: \([^ ]*\).*|\1|p' "$box")
    [ -f "${record:-none}" ] || complain "$box" "record '$record' doesn't exist"

    grep -rq --include='*.[ch]' "#include \"box/${name}_box.h\"" core || complain "$box" "nobody includes it"
done

for file in core/box/*; do
    case $file in
    *_box.h | *_box.c | 'core/box/*') ;;
    *) complain "$file" "only boxes live here: <name>_box.h" ;;
    esac
done

[ $bad = 0 ] && echo "$count boxes state their contract"
exit $bad
