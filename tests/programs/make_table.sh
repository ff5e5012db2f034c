#!/bin/bash
# Makes docs/reference/programs.md from the results of the program tests: make_table.sh RESULTS
# SPDX-License-Identifier: MIT
#
# For figures worth keeping, run the tests on an idle machine, and with more than one round (three
# stay below the time that CTest gives a test):
#   HAK_PROGRAM_ROUNDS=3 ctest --test-dir out/release -L programs
#   bash tests/programs/make_table.sh out/release/tests/programs/results.txt >docs/reference/programs.md
set -eu
results=${1:?usage: make_table.sh RESULTS}
folder=$(dirname "$0")
[ -s "$results" ] || { echo "make_table.sh: $results holds no results; run ctest -L programs first." >&2; exit 1; }

# What a test does: the comment that its script opens with.
what() {
    awk 'NR > 1 && /SPDX/ { exit } NR > 1 { sub(/^# /, ""); printf "%s%s", gap, $0; gap = " " }' "$folder/$1.sh"
}

package_of() {
    case $1 in
    python) echo python3.11 ;;
    gcc) echo gcc-12 ;;
    gxx) echo g++-12 ;;
    redis) echo redis-server ;;
    nginx) echo nginx-light ;;
    postgresql) echo postgresql-15 ;;
    node) echo nodejs ;;
    lua) echo lua5.4 ;;
    ruby) echo ruby3.1 ;;
    java) echo openjdk-17-jre-headless ;;
    stress_ng) echo stress-ng ;;
    *) echo "$1" ;;
    esac
}

version_of() {
    dpkg-query -W -f '${Version}' "$(package_of "$1")" 2>/dev/null || echo unknown
}

cat <<'END'
# Programs that run on hakmem

Made by `tests/programs/make_table.sh` from a run of `ctest -L programs`; don't edit it.

Each program of Debian 12 runs once on glibc's allocator and once with hakmem preloaded, on the same
input. A row passes when both runs end with status 0, their output is the same, and the proof holds:
every process had hakmem in its memory map, none had a `[heap]`, glibc's own `mallinfo2` said 0
in each of them, and hakmem's figures showed it at work. `tests/programs/support.sh` says how.

Ratios are hakmem to glibc: below 1, hakmem was faster or smaller. Time is elapsed time. RSS is the peak
of the largest process under test; small programs are mostly code, so their ratio says little of the heap.
END
rounds=$(awk '$9 != "-" { print $9 }' "$results" | sort -n | head -n 1)
echo
echo "Runs of each side: ${rounds:-1} (the median counts); cores: $(nproc). So few runs tell what to expect, not whether"
echo '2 % were gained: the benchmarks do that.'
echo
echo '| program | version | result | time ratio | RSS ratio | seconds, glibc | seconds, hakmem | peak MiB, glibc | peak MiB, hakmem |'
echo '|---|---|---|---|---|---|---|---|---|'
sort "$results" | while read -r name verdict time_ratio rss_ratio glibc_s hakmem_s glibc_kib hakmem_kib _; do
    if [ "$verdict" = pass ]; then
        glibc_kib=$(awk -v kib="$glibc_kib" 'BEGIN { printf "%.1f", kib / 1024 }')
        hakmem_kib=$(awk -v kib="$hakmem_kib" 'BEGIN { printf "%.1f", kib / 1024 }')
    fi
    echo "| $name | $(version_of "$name") | $verdict | $time_ratio | $rss_ratio | $glibc_s | $hakmem_s | $glibc_kib | $hakmem_kib |"
done
echo
echo '## What each does'
echo
sort "$results" | while read -r name _; do
    echo "- **$name**: $(what "$name")"
done
cat <<'END'

## What the comparison leaves out, and other notes

- *python*: the names of its tests, their results and counts are compared, not times or the text that tests print. Timed are
  the tests of lists, dictionaries and JSON; those of threads and subprocesses mostly wait.
- *git*: the sizes of packs are left out; they depend on how two threads shared the work.
- *gcc*, *g++*: the object file and the program are compared byte by byte.
- *nginx*: what curl fetches is compared; the time is that of 10 000 answers at each rate that wrk measured in two seconds.
- *redis*: Debian's server is linked to libjemalloc, so the run on glibc has `libc.so.6` preloaded. hakmem wins over
  libjemalloc: the figures that redis asks jemalloc for by `mallctl` (`allocator_allocated`) stay below 1 MiB while
  redis counts tens of MiB in use; hakmem's `live_bytes` and peak hold what redis counts; and in a third run without any preload
  jemalloc's figure is as high as redis's, so it would tell. The time is that of redis-benchmark.
- *postgresql*: pgbench has a fixed seed and number of transactions; the sums in its tables and the answers to a script of larger
  queries are compared. The time is that of pgbench and the script.
- *node*, *java*: their objects live in memory that they map by themselves; malloc serves the rest.
- *stress_ng*: it prints no results; it checks its blocks and must say that each of its runs was successful. It calls
  `malloc_trim` often, and glibc spends most of its time there; the ratio says nothing of malloc and free.
- Programs that leave by `_exit` write no `HAKMEM_STATS` line; the test's probe reads the same figures as they leave.
END
