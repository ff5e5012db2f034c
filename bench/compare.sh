#!/bin/sh
# Compares allocators on workloads, in turns (A B C A B C ...), each preloaded into the same program.
# SPDX-License-Identifier: MIT
set -eu

usage()
{
    cat <<'TEXT'
usage: compare.sh [options] ALLOCATOR... [-- PROGRAM [ARGUMENT...]]
Compares allocators on the workloads of bench/, or on the one given after --.

  ALLOCATOR        glibc, hakmem, mimalloc, jemalloc, tcmalloc: found on this machine;
                   NAME=FILE.so: any other library, or a particular one (hakmem=FILE.so).
                   The first is what the others are compared with.
  PROGRAM          a workload by name (bench_teardown) or path; it gets --json by itself
  --rounds N       counted rounds, after a warm-up that is thrown away (default 10)
  --build DIR      the build folder with the programs and libhakmem.so (default out/release)
  --raw FILE       append every counted run to FILE, one JSON object a line
  --markdown       print the tables as Markdown
  --help           print this text

A run counts only when the program itself names the allocator that was meant.
TEXT
}

complain()
{
    printf 'compare.sh: %s\n' "$1" >&2
}

refuse()
{
    complain "$1 See --help."
    exit 2
}

fail()
{
    complain "$1"
    exit 1
}

root=$(cd "$(dirname "$0")/.." && pwd)
rounds=10
build=$root/out/release
raw=
markdown=0
allocators=
tab=$(printf '\t')

# ---- Arguments ------------------------------------------------------------------------------------

# is_whole NUMBER LEAST MOST
is_whole()
{
    case $1 in
    '' | *[!0-9]* | ??????*) return 1 ;;
    esac
    [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

# The file of a library by the name that programs load it by.
library_find()
{
    file=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null |
        awk -v name="$1" '$1 == name { print $NF; exit }')
    if [ -z "$file" ] && command -v dpkg >/dev/null; then
        file=$(dpkg -L "$2" 2>/dev/null | grep "/$1\$" | head -n 1)
    fi
    [ -n "$file" ] || fail "$1 isn't here. Install it: apt-get install $2"
    printf '%s\n' "$file"
}

# allocator_file SPEC: the file to preload, or nothing for glibc's own malloc.
allocator_file()
{
    case $1 in
    *=*)
        [ -f "${1#*=}" ] || fail "${1#*=}, given for ${1%%=*}, is not a file."
        printf '%s\n' "${1#*=}"
        ;;
    glibc) ;;
    hakmem)
        file=$build/libhakmem.so
        [ -f "$file" ] || fail "$file isn't here. Build it (make), or give --build or hakmem=FILE.so."
        printf '%s\n' "$file"
        ;;
    mimalloc) library_find libmimalloc.so.2 libmimalloc2.0 ;;
    jemalloc) library_find libjemalloc.so.2 libjemalloc2 ;;
    tcmalloc) library_find libtcmalloc_minimal.so.4 libtcmalloc-minimal4 ;;
    *) refuse "'$1' is no allocator known here; give NAME=FILE.so." ;;
    esac
}

while [ $# -gt 0 ]; do
    case $1 in
    --help) usage; exit 0 ;;
    --markdown) markdown=1 ;;
    --rounds | --build | --raw)
        [ $# -ge 2 ] || refuse "$1 needs a value."
        case $1 in
        --rounds)
            is_whole "$2" 1 500 || refuse "--rounds must be a whole number from 1 to 500, not '$2'."
            rounds=$2
            ;;
        --build) build=$2 ;;
        --raw) raw=$2 ;;
        esac
        shift
        ;;
    --) shift; break ;;
    -*) refuse "unknown option '$1'." ;;
    *"$tab"* | *' '*) refuse "'$1': neither a name nor a path may hold spaces here." ;;
    *) allocators="$allocators $1" ;;
    esac
    shift
done
[ -n "$allocators" ] || refuse "give at least one allocator, for example: glibc hakmem."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

if [ -n "${LD_PRELOAD:-}" ]; then
    complain "LD_PRELOAD=$LD_PRELOAD is taken away: each run gets the allocator it is named for."
    unset LD_PRELOAD
fi

# allocators: one line each, name, library.
for spec in $allocators; do
    library=$(allocator_file "$spec")
    [ -z "$library" ] || library=$(readlink -f "$library")
    case $library in
    *[' :']*) fail "$library: LD_PRELOAD takes no path with a space or a colon." ;;
    esac
    name=${spec%%=*}
    if grep -q "^$name$tab" "$scratch/allocators" 2>/dev/null; then
        refuse "two allocators are named $name."
    fi
    printf '%s\t%s\n' "$name" "$library" >>"$scratch/allocators"
done

# ---- One run --------------------------------------------------------------------------------------

# field NAME: the value of a field in the JSON line on standard input.
field()
{
    sed -n -e 's/.*"'"$1"'": "\([^"]*\)".*/\1/p' -e t -e 's/.*"'"$1"'": \([^,}]*\).*/\1/p'
}

# check_allocator NAME LIBRARY: fails unless the program's own report says that this one served it.
check_allocator()
{
    said=$(field allocator <"$scratch/json")
    object=$(field allocator_object <"$scratch/json")
    if [ -z "$2" ]; then
        [ "$said" = glibc ] || fail "this run was meant for glibc, but $said ($object) served it."
        return
    fi
    [ "$(readlink -f "$object")" = "$2" ] ||
        fail "this run was meant for $1 ($2), but $said ($object) served it."
    case $1 in
    hakmem | mimalloc | jemalloc | tcmalloc)
        [ "$said" = "$1" ] || fail "$2 was named $1, but the program finds $said in it."
        ;;
    esac
}

# run_once NAME LIBRARY PROGRAM [ARGUMENT...]: leaves the report in $scratch/json.
run_once()
{
    name=$1
    library=$2
    shift 2
    # Standard input is empty: the loops around read their lists from theirs.
    # shellcheck disable=SC2086
    if ! $pin env ${library:+LD_PRELOAD="$library"} "$@" --json \
        </dev/null >"$scratch/output" 2>"$scratch/errors"; then
        cat "$scratch/output" "$scratch/errors" >&2
        fail "'$*' failed under $name."
    fi
    cat "$scratch/errors" >&2
    grep '^{.*}$' "$scratch/output" >"$scratch/json" ||
        fail "'$*' printed no JSON line, so nothing proves which allocator ran."
    check_allocator "$name" "$library"
}

# ---- One workload ---------------------------------------------------------------------------------

# Sets pin to the taskset command for a single-threaded workload, else to nothing.
choose_pin()
{
    pin=
    pinned="not pinned"
    [ "$(field threads <"$scratch/json")" = 1 ] || return 0
    if ! command -v taskset >/dev/null; then
        complain "taskset isn't here, so the runs are not pinned."
        return 0
    fi
    cpu=$(taskset -pc $$ | sed 's/.*[ ,-]//')
    pin="taskset -c $cpu"
    pinned="pinned to CPU $cpu"
}

# One line a run: round, name, figure, peak bytes.
keep_run()
{
    printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$(field figure <"$scratch/json")" \
        "$(field peak_rss_bytes <"$scratch/json")" >>"$scratch/runs"
    if [ -n "$raw" ]; then
        cat "$scratch/json" >>"$raw"
    fi
}

# The ratio is cost over cost, so below 1 is better whichever way the figure goes.
#
# The interval is for the median of the paired ratios and assumes nothing of their distribution.  Each
# ratio lies below the true median with probability 1/2, so how many of n do is binomial, and the k-th
# smallest and the k-th largest ratio enclose the median unless fewer than k lie on one side: that
# happens with probability 2 P(Bin(n, 1/2) <= k - 1).  k is the largest that keeps this at or under
# 5 %; under six rounds there is none.
print_table()
{
    awk -F '\t' -v unit="$(field unit <"$scratch/json")" -v better="$(field better <"$scratch/json")" \
        -v title="$1" -v pinned="$pinned" -v rounds="$rounds" -v markdown="$markdown" '
    function sort_values(values, n,    i, j, value) {
        for (i = 2; i <= n; i++) {
            value = values[i]
            for (j = i - 1; j >= 1 && values[j] > value; j--) {
                values[j + 1] = values[j]
            }
            values[j + 1] = value
        }
    }
    function median_of(values, n) {
        return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
    }
    function rank_for(n,    k, term, tail) {
        term = 0.5 ^ n
        tail = term
        for (k = 0; 2 * tail <= 0.05; k++) {
            term *= (n - k) / (k + 1)
            tail += term
        }
        return k
    }
    function cost_ratio(mine, first) {
        return better == "lower" ? mine / first : first / mine
    }
    function interval_of(name,    i, k, ratios) {
        if (name == names[1]) {
            return "-"
        }
        k = rank_for(rounds)
        if (k == 0) {
            return "needs 6 rounds"
        }
        for (i = 1; i <= rounds; i++) {
            ratios[i] = cost_ratio(figure[i, name], figure[i, names[1]])
        }
        sort_values(ratios, rounds)
        return sprintf("%.3f to %.3f", ratios[k], ratios[rounds + 1 - k])
    }
    function print_row(name,    i, figures, peaks, form) {
        for (i = 1; i <= rounds; i++) {
            figures[i] = figure[i, name]
            peaks[i] = peak[i, name]
        }
        sort_values(figures, rounds)
        sort_values(peaks, rounds)
        medians[name] = median_of(figures, rounds)
        form = markdown ? "| %s | %.2f | %.2f | %.3f | %s | %.1f |\n" \
                        : "  %-16s %11.2f %11.2f %8.3f   %-16s %9.1f\n"
        printf form, name, medians[name], better == "lower" ? figures[1] : figures[rounds],
            cost_ratio(medians[name], medians[names[1]]), interval_of(name),
            median_of(peaks, rounds) / 1048576
    }
    {
        if (!($2 in seen)) {
            seen[$2] = 1
            names[++name_count] = $2
        }
        figure[$1, $2] = $3
        peak[$1, $2] = $4
    }
    END {
        what = unit (better == "lower" ? ", lower is better" : "") ", " rounds (rounds == 1 ? " round, " : " rounds, ") pinned
        if (markdown) {
            printf "\n**%s** (%s)\n\n", title, what
            print "| allocator | median | best | ratio | 95 % interval | peak MiB |"
            print "|---|---|---|---|---|---|"
        } else {
            printf "\n%s  (%s)\n", title, what
            printf "  %-16s %11s %11s %8s   %-16s %9s\n", "allocator", "median", "best", "ratio",
                "95 % interval", "peak MiB"
        }
        for (n = 1; n <= name_count; n++) {
            print_row(names[n])
        }
    }' "$scratch/runs"
}

# compare_on PROGRAM [ARGUMENT...]
compare_on()
{
    program=$1
    shift
    case $program in
    */*) ;;
    *) program=$build/bench/$program ;;
    esac
    [ -x "$program" ] || fail "$program isn't here. Build it (make), or give --build."
    : >"$scratch/runs"
    pin=
    round=0 # the warm-up; it tells, too, whether the workload has one thread
    while [ "$round" -le "$rounds" ]; do
        progress "$(basename "$program") $*, round $round of $rounds"
        while IFS=$tab read -r name library; do
            run_once "$name" "$library" "$program" "$@"
            [ "$round" = 0 ] || keep_run "$round" "$name"
        done <"$scratch/allocators"
        [ "$round" != 0 ] || choose_pin
        round=$((round + 1))
    done
    progress ''
    print_table "$(field bench <"$scratch/json") $(field arguments <"$scratch/json")"
}

# A line on the terminal that the next one overwrites.
progress()
{
    [ ! -t 2 ] || printf '\r\033[K%.78s' "$1" >&2
}

# ---- The workloads --------------------------------------------------------------------------------

# Short variants: with five allocators and ten rounds all of them take less than ten minutes.
default_workloads()
{
    cat <<'LIST'
bench_random_mixed 5000000 400 1
bench_random_mixed 5000000 400 1 --independent
bench_random_mixed 5000000 400 1 --c6
bench_random_mixed 4000000 100000 1
bench_random_mixed 3000000 1000000 1
bench_mid_large_mt 1 400000 256 1
bench_mid_large_mt 4 100000 64 1
bench_tiny_hot 32 100 15000
bench_tiny_hot 64 10000 150
bench_producer_consumer pairs 1 1500000
bench_producer_consumer one-to-many 3 1000000
bench_producer_consumer many-to-one 3 1000000
bench_producer_consumer free-only 1 600000
bench_producer_consumer idle 2 600000
bench_producer_consumer exit 2 600000
bench_async_pool 2 200000
bench_async_pool 8 200000
bench_thread_churn 4000 8
bench_thread_churn 4000 8 16 1 --leave
bench_realloc_growth 64MiB 2
bench_realloc_growth 4MiB 8 4
bench_teardown 300000 16 128 2
bench_teardown 300000 16 128 2 --sequential
bench_idle_return 64 64MiB 1 2
LIST
}

load()
{
    cut -d ' ' -f 1-3 /proc/loadavg
}

echo "Allocators, in turns; the first is what the others are compared with:"
awk -F '\t' '{ printf "  %-16s %s\n", $1, $2 == "" ? "the C library itself" : $2 }' "$scratch/allocators"
echo "ratio: the cost (time, or memory where that is the figure) over that of the first; below 1 is better."
echo "95 % interval: of the median of the ratios taken round by round.  Load before: $(load)."

if [ $# -gt 0 ]; then
    compare_on "$@"
else
    default_workloads >"$scratch/workloads"
    while read -r line; do
        # The words of a line are a program and its arguments.
        # shellcheck disable=SC2086
        compare_on $line
    done <"$scratch/workloads"
fi
echo
echo "Every run named the allocator that it was meant for.  Load after: $(load)."
