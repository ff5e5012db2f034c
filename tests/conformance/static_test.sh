#!/bin/sh
# A static program on the archive: libc's own malloc must not have been linked in beside it.
# SPDX-License-Identifier: MIT
set -eu
nm=${1:?usage: static_test.sh NM PROGRAM}
program=${2:?usage: static_test.sh NM PROGRAM}
bad=0
for name in _int_malloc _int_free ptmalloc_init; do
    if "$nm" "$program" | grep -qw "$name"; then
        echo "$program: libc's malloc is linked in, it has $name"
        bad=1
    fi
done
for name in malloc free calloc realloc memalign; do
    count=$("$nm" "$program" | grep -cE " [TtWwi] $name\$" || true)
    if [ "$count" != 1 ]; then
        echo "$program: $name is defined $count times"
        bad=1
    fi
done
${HAK_TEST_EMULATOR:-} "$program"
exit $bad
