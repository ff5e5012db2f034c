#!/bin/sh
# Fails when a file in core/ includes a header of a higher layer, or one that doesn't exist.
# SPDX-License-Identifier: MIT
#
# core/LAYERS names the folders, lowest first.  A file may include its own folder and lower ones.  A
# box belongs to the caller that its "Boundary: caller -> callee" line names.  A file right in
# core/ stands above all.  include/hakmem.h is everybody's.
set -eu
cd "${1:?usage: check_layers.sh CORE_DIR}"

{
    sed '/^#/d; /^ *$/d; s/^/layer /' LAYERS
    find . -name '*_box.h' -exec sed -n 's|^// Boundary: *\([a-z_]*\) *-> *\([a-z_]*\).*|\1 \2|p' {} \; \
        -exec echo {} \; | awk 'NF == 2 { caller = $1; next } { sub(/^\.\//, ""); print "box", $1, caller }'
    find . -name '*.[ch]' | sed 's|^\./|file |'
    find . -name '*.def' | sed 's|^\./|file |'
    echo "file hakmem.h"
    find . -name '*.[ch]' -exec grep -Hn '^ *# *include *"' {} + |
        sed 's|^\./||; s|^\([^:]*\):\([0-9]*\):[^"]*"\([^"]*\)".*|include \1 \2 \3|'
} | awk '
function rank_of(path,    folder, box) {
    if (index(path, "/") == 0) {
        return path == "hakmem.h" ? 0.5 : layer_count + 1
    }
    folder = path
    sub(/\/.*/, "", folder)
    if (folder == "box") {
        box = path
        sub(/\.c$/, ".h", box)
        return box in box_caller && box_caller[box] in rank ? rank[box_caller[box]] : 0
    }
    return folder in rank ? rank[folder] : 0
}
function complain(place, text) { print place ": " text; bad = 1 }

$1 == "layer"   { rank[$2] = ++layer_count }
$1 == "box"     { box_caller[$2] = $3 }
$1 == "file"    { exists[$2] = 1 }
$1 == "include" { from[++count] = $2; line[count] = $3; to[count] = $4 }
END {
    for (path in exists) {
        if (rank_of(path) == 0) {
            complain("core/" path, "its layer is unknown: name its folder in core/LAYERS, or the box its caller")
        }
    }
    for (i = 1; i <= count; i++) {
        place = "core/" from[i] ":" line[i]
        if (!(to[i] in exists)) {
            complain(place, "\"" to[i] "\" is no path from core/")
        } else if (rank_of(to[i]) > rank_of(from[i])) {
            complain(place, "includes " to[i] ", a higher layer")
        }
    }
    if (count == 0) {
        complain("core", "no include was found: is this the right folder?")
    }
    if (!bad) {
        print count " includes follow core/LAYERS"
    }
    exit bad
}'
