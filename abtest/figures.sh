#!/bin/sh
# How often `hakmem ab` is right: simulated experiments, then real ones whose two sides are equal.
# SPDX-License-Identifier: MIT
#
# usage: figures.sh BUILD_FOLDER [EXPERIMENTS]
# Exit status 0: the simulation keeps its bounds, and at most 5 % of the real experiments say GO.
set -eu
build=${1:?usage: figures.sh BUILD_FOLDER [EXPERIMENTS]}
experiment_count=${2:-100}

status=0
"$build/tests/unit/abtest_simulation" all || status=1

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo
echo "$experiment_count real experiments of the mixed workload, ten rounds each, both sides equal:"
experiment=0
while [ "$experiment" -lt "$experiment_count" ]; do
    "$build/cli/hakmem" ab --a bin_bytes=64KiB --b bin_bytes=64KiB --workload mixed >"$scratch/table"
    sed -n 's/^\(GO\|NO-GO\|NEUTRAL\|UNDECIDED\): .*/verdict \1/p' "$scratch/table" >>"$scratch/verdicts"
    sed -n "s/^memo's rule *\([A-Z-]*\): .*/memo's rule alone \1/p" "$scratch/table" >>"$scratch/verdicts"
    experiment=$((experiment + 1))
done
sort "$scratch/verdicts" | uniq -c
go_count=$(grep -c '^verdict GO$' "$scratch/verdicts" || true)
[ $((go_count * 20)) -le "$experiment_count" ] || status=1
exit $status
