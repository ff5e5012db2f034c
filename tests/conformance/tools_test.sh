#!/bin/sh
# Tools that bring a malloc of their own stay in charge: the library steps aside for AddressSanitizer and
# valgrind, which still find the fault, and its own functions go on beside them.
# SPDX-License-Identifier: MIT
#
# usage: tools_test.sh LIBRARY PROGRAM ADDRESS_PROGRAM API_PROGRAM ADDRESS_API_PROGRAM
# The ADDRESS_ programs are built with AddressSanitizer, each a no where the compiler has none.
set -u
usage='usage: tools_test.sh LIBRARY PROGRAM ADDRESS_PROGRAM API_PROGRAM ADDRESS_API_PROGRAM'
library=${1:?$usage}
program=${2:?$usage}
address_program=${3:?$usage}
api_program=${4:?$usage}
address_api_program=${5:?$usage}
bad=0
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# expect STATUS TEXT COMMAND...: any status but 0 will do for "fault".
expect()
{
    wanted=$1
    text=$2
    shift 2
    "$@" >"$said" 2>&1
    status=$?
    if [ "$wanted" = fault ] && [ $status != 0 ]; then
        status=fault
    fi
    if [ $status != "$wanted" ] || ! grep -q "$text" "$said"; then
        echo "$*: the status is $status, not $wanted, or it doesn't say '$text':"
        head -n 20 "$said"
        bad=1
    fi
}

expect 0 sound env LD_PRELOAD="$library" "$program"
if [ "$address_program" != no ]; then
    # The runtime is a library of its own, which must come first, or a part of the program.
    runtime=$(ldd "$address_program" | sed -n 's/.*=> *\(.*asan[^ ]*\).*/\1/p')
    expect 0 sound env LD_PRELOAD="$runtime:$library" "$address_program"
    expect fault 'heap-buffer-overflow' env LD_PRELOAD="$runtime:$library" "$address_program" overflow
    if [ -n "$runtime" ]; then
        expect fault 'does not come first' env LD_PRELOAD="$library" "$address_program"
    fi
    expect 0 sound "$address_api_program"
fi
if command -v valgrind >/dev/null; then
    expect 0 sound env LD_PRELOAD="$library" valgrind -q --error-exitcode=9 "$program"
    expect 9 'after a block of size 100 alloc' env LD_PRELOAD="$library" valgrind -q --error-exitcode=9 "$program" overflow
    expect 0 sound valgrind -q --error-exitcode=9 "$api_program"
else
    echo "valgrind is not installed: left out"
fi
exit $bad
