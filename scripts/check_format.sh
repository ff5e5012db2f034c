#!/bin/sh
# Fails when a C file isn't as clang-format 14 leaves it.  Exit 77: that version isn't here.
# SPDX-License-Identifier: MIT
set -eu
cd "${1:?usage: check_format.sh PROJECT_DIR}"
formatter=
for candidate in clang-format-14 clang-format; do
    if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
        formatter=$candidate
        break
    fi
done
[ -n "$formatter" ] || { echo "clang-format 14 isn't installed"; exit 77; }
sources=$(find core include cli abtest bench tests examples -name '*.[ch]' 2>/dev/null | sort)
# The words are paths without spaces.
# shellcheck disable=SC2086
"$formatter" --dry-run -Werror $sources
echo "every C file is formatted"
