#!/bin/sh
# Fails when an atomic object of core/ isn't argued in docs/design/memory-model.md.
# SPDX-License-Identifier: MIT
#
# The page has a heading "## core/..." for each file that declares atomic objects or uses the __atomic
# builtins, and below it each object's name in backquotes.  Operations must name their order.
set -eu
cd "${1:?usage: check_memory_model.sh PROJECT_DIR}"
page=docs/design/memory-model.md
bad=0

# "file name" of each object that is declared _Atomic.  A pointer to one isn't one, nor is a parameter.
objects()
{
    find core -name '*.[ch]' | sort | while read -r file; do
        sed 's|//.*||' "$file" | awk -v file="$file" 'BEGIN { RS = ";" }
        /_Atomic/ {
            gsub(/[ \t\n]+/, " ")
            sub(/.*[{}]/, "")
            sub(/ = .*/, "")
            gsub(/\[[^]]*\]/, "")
            gsub(/_Atomic\(_Atomic\([^()]*\)[^()]*\)|_Atomic\([^()]*\)/, "_Atomic")
            gsub(/_Alignas\([^()]*\)/, "")
            sub(/ *$/, "")
            if ($0 !~ /_Atomic/ || /[()]/ || /\* *[a-z_0-9]+$/) {
                next
            }
            sub(/.*[ *]/, "")
            print file, $0
        }'
    done
}

# section FILE: the lines of the page under its heading.
section()
{
    awk -v heading="## $1" '/^## /{ inside = $0 == heading } inside' "$page"
}

count=0
names=$(objects)
[ -n "$names" ] || { echo "core: no atomic object was found"; exit 1; }
while read -r file name; do
    count=$((count + 1))
    section "$file" | grep -q "\`$name\`" || { echo "$file: $name isn't argued in $page"; bad=1; }
done <<END
$names
END

for file in $(find core -name '*.[ch]' -exec grep -lE '__atomic_(load|store|exchange|compare|fetch)' {} + | sort); do
    [ -n "$(section "$file")" ] || { echo "$file: its __atomic builtins aren't argued in $page"; bad=1; }
done
headings=$(sed -n 's/^## \(core\/.*\)/\1/p' "$page")
for file in $headings; do
    if ! echo "$names" | grep -q "^$file " && ! grep -qE '__atomic_(load|store)' "$file" 2>/dev/null; then
        echo "$page: $file has no atomic object"
        bad=1
    fi
done
if grep -rnE --include='*.[ch]' '\<atomic_(load|store|exchange|fetch_[a-z]+|compare_exchange_(weak|strong))\(' core; then
    echo "an atomic operation must name its order: use the _explicit form"
    bad=1
fi
[ $bad = 0 ] && echo "$count atomic objects are argued in $page"
exit $bad
