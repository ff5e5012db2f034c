#!/bin/sh
# Runs a program with and without the preloaded library and checks who served its malloc.
# SPDX-License-Identifier: MIT
set -eu
library=${1:?usage: run.sh LIBRARY PROGRAM}
program=${2:?usage: run.sh LIBRARY PROGRAM}

with=$(LD_PRELOAD=$library "$program")
without=$("$program")
echo "with LD_PRELOAD: $with; without: $without"
[ "$with" = "served by hakmem" ] && [ "$without" = "served by another allocator" ]
