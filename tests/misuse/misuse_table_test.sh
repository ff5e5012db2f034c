#!/bin/sh
# The table of what allocators catch (scripts/misuse_table.sh) tells the profiles and the libc's own
# allocator from one another.
# SPDX-License-Identifier: MIT
set -eu
build=${1:?usage: misuse_table_test.sh BUILD_DIR LIBRARY}
library=${2:?usage: misuse_table_test.sh BUILD_DIR LIBRARY}
table=$(sh "$(dirname "$0")/../../scripts/misuse_table.sh" --build "$build" --runs 1 glibc= "default=$library" \
    "hardened=$library,HAKMEM_PROFILE=hardened")
bad=0
for row in '| program | glibc | default | hardened |' \
    '| double_free_tiny | abort | abort | abort |' \
    '| overflow_by_one | no | no | abort |' \
    '| overflow_large | no | no | fault |' \
    '| read_after_free | no | no | harmless |' \
    '| zero_size_read | no | no | no |'; do
    printf '%s\n' "$table" | grep -qxF "$row" || { echo "there is no row $row in:"; bad=1; }
done
[ $bad = 0 ] || printf '%s\n' "$table"
exit $bad
