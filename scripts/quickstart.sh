#!/bin/sh
# The first look: installs what is missing, builds, and runs two workloads on glibc's allocator and on
# hakmem, in turns: sh scripts/quickstart.sh
# SPDX-License-Identifier: MIT
#
# 1. the mixed workload (bench/bench_random_mixed, the standard run), which says who served it;
# 2. sqlite3 with an in-memory database (tests/programs/sqlite3.sh), whose answers must be the same
#    on both sides and which proves that hakmem served it.
# Environment: QUICKSTART_ROUNDS, the number of runs on each side (7).
set -eu
cd "$(dirname "$0")/.."
rounds=${QUICKSTART_ROUNDS:-7}

sh scripts/setup.sh --for quickstart

echo "== building"
mkdir -p out
if ! { cmake --preset release --no-warn-unused-cli -DBUILD_TESTING=OFF &&
    cmake --build --preset release; } >out/quickstart.log 2>&1; then
    tail -n 40 out/quickstart.log
    echo "quickstart: the build failed; the whole log is in out/quickstart.log." >&2
    exit 1
fi
library=$PWD/out/release/libhakmem.so
bench=out/release/bench/bench_random_mixed

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# One run of the mixed workload: its line, which must name the allocator that was meant.
mixed_run()
{
    side=$1
    shift
    "$@" "$bench" 20000000 400 1 >"$scratch/line"
    if ! grep -q "allocator $side" "$scratch/line"; then
        echo "quickstart: this run was meant for $side but says: $(cat "$scratch/line")" >&2
        exit 1
    fi
    # "... 51.20 M ops/s, ... peak 3.9 MiB, ..."
    sed -n 's/.* \([0-9.]*\) M ops\/s.* peak \([0-9.]*\) MiB.*/\1 \2/p' "$scratch/line" >>"$scratch/mixed.$side"
}

echo "== the mixed workload, $rounds runs each"
mixed_run glibc env
mixed_run hakmem env LD_PRELOAD="$library"
rm -f "$scratch"/mixed.* # the warm-up
round=1
while [ "$round" -le "$rounds" ]; do
    mixed_run glibc env
    mixed_run hakmem env LD_PRELOAD="$library"
    round=$((round + 1))
done

echo "== sqlite3, $rounds runs each"
if command -v sqlite3 >/dev/null; then
    HAKMEM_LIBRARY=$library HAK_PROGRAM_ROUNDS=$rounds HAK_PROGRAM_RESULTS=$scratch/programs \
        bash tests/programs/sqlite3.sh
else
    echo "left out: sqlite3 isn't installed"
fi

# median FILE COLUMN
median()
{
    awk -v column="$2" '{ print $column }' "$1" | sort -n | awk '{ value[NR] = $1 }
        END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'
}

echo
printf '%-38s %12s %12s %10s\n' "median of $rounds runs, in turns" glibc hakmem ratio
table_row()
{
    awk -v name="$1" -v a="$2" -v b="$3" -v form="$4" 'BEGIN {
        printf "%-38s %12s %12s %9.2fx\n", name, sprintf(form, a), sprintf(form, b), b / a }'
}
table_row "mixed workload, million calls a second" \
    "$(median "$scratch/mixed.glibc" 1)" "$(median "$scratch/mixed.hakmem" 1)" '%.1f'
table_row "mixed workload, peak memory, MiB" \
    "$(median "$scratch/mixed.glibc" 2)" "$(median "$scratch/mixed.hakmem" 2)" '%.1f'
if [ -s "$scratch/programs" ]; then
    # name pass time-ratio rss-ratio seconds-glibc seconds-hakmem KiB-glibc KiB-hakmem rounds
    read -r _ _ _ _ seconds_glibc seconds_hakmem kib_glibc kib_hakmem _ <"$scratch/programs"
    table_row "sqlite3, seconds" "$seconds_glibc" "$seconds_hakmem" '%.2f'
    table_row "sqlite3, peak memory, MiB" \
        "$(awk "BEGIN { print $kib_glibc / 1024 }")" "$(awk "BEGIN { print $kib_hakmem / 1024 }")" '%.1f'
fi
echo
echo "Proof that hakmem ran: every run of the benchmark asked the loaded allocator for its name."
if [ -s "$scratch/programs" ]; then
    echo "sqlite3 had no glibc heap, and wrote hakmem's own figures at its end."
fi
echo "Try it on a program of yours:  LD_PRELOAD=$library your-program"
