#!/bin/sh
# Fails when a source file lacks its SPDX line, two files of the library, the command or the
# benchmarks share a name, a name isn't snake_case, or dead code is left behind #if 0.
# SPDX-License-Identifier: MIT
set -eu
cd "${1:?usage: check_names.sh PROJECT_DIR}"
bad=0

sources=$(find core include cli abtest bench tests examples scripts cmake .ci CMakeLists.txt Makefile -type f \
    \( -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp' -o -name '*.def' -o -name '*.sh' -o -name '*.cmake' \
    -o -name '*.py' -o -name '*.pml' -o -name '*.map' -o -name CMakeLists.txt -o -name Makefile -o -path .ci/run \) 2>/dev/null | sort)
count=0
for file in $sources; do
    count=$((count + 1))
    lines=$(grep -c 'SPDX-License-Identifier: MIT$\|SPDX-License-Identifier: MIT \*/$' "$file" || true)
    [ "$lines" = 1 ] || { echo "$file: needs one line 'SPDX-License-Identifier: MIT', has $lines"; bad=1; }
    case $(basename "$file") in
    CMakeLists.txt | Makefile | *Config.cmake*) ;;
    *[!a-z0-9_.]*) echo "$file: the name isn't snake_case"; bad=1 ;;
    esac
done
[ $count -gt 0 ] || { echo "no source file found"; exit 1; }

twins=$(find core include cli abtest bench -name '*.[ch]' 2>/dev/null | sed 's|.*/||' | sort | uniq -d)
[ -z "$twins" ] || { echo "more than one file is named: $twins"; bad=1; }

if find core include cli abtest bench tests examples -name '*.[ch]' -exec grep -Hn '^ *# *if 0' {} + 2>/dev/null | grep .; then
    echo "dead code: delete it, git remembers"
    bad=1
fi

[ $bad = 0 ] && echo "$count files carry their licence line and a proper name"
exit $bad
