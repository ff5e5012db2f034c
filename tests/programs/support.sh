# shellcheck shell=bash
# What the program tests share: two runs side by side, and the proof that hakmem served the second.
# SPDX-License-Identifier: MIT
#
# A test is a bash script that reads this file, defines what it runs and hands over:
#
#   . "$(dirname "$0")/support.sh" || exit 2
#   program_needs sqlite3 sqlite3           # command and Debian package; exit 77 without it
#   prepare() { ... }                       # optional: makes inputs in $work, which both runs use
#   workload() { "${under[@]}" sqlite3 ...; }  # what is run; "${under[@]}" puts the allocator under it
#   normalise() { sed ...; }                # optional: takes out of the output what differs each time
#   program_run sqlite3                     # names of the processes under test
#
# The test's name is that of the script.  The workload runs once with glibc's allocator and once with
# hakmem preloaded, each time in a fresh folder, which is $side_dir and the working folder.  Its exit
# status must be 0 both times and its output the same; what it prints on standard error is shown only
# when the test fails.
#
# The proof, for the run on hakmem, from heap_probe.c and from hakmem's own figures:
#   1. every process that was started had libhakmem in its memory map;
#   2. none had a brk heap, and glibc's allocator held nothing in any of them;
#   3. the processes under test had hakmem's own figures show memory committed and bins refilled, and
#      one of them at least appended these figures to the file that HAKMEM_STATS named.
# The same probe must see glibc's heap in the run on glibc, so that the check is known to work.
#
# Exit status: 0 passed, 1 failed (with a sentence), 2 wrong usage, 77 the program isn't installed.
#
# Environment:
#   HAKMEM_LIBRARY       the libhakmem.so under test
#   HAK_HEAP_PROBE       heap_probe.so; compiled on the spot when unset
#   HAK_PROGRAM_RESULTS  file that gets one row: name, pass or fail, time ratio, RSS ratio, then the
#                        seconds on glibc and hakmem, the peak RSS in KiB on both, the rounds
#   HAK_PROGRAM_ROUNDS   how often both sides run (1); the row then has the medians
#   HAK_PROGRAM_KEEP     set to 1: leave the work folder and say where it is

set -eu

export LC_ALL=C.UTF-8
export PYTHONDONTWRITEBYTECODE=1 # so that no run leaves anything in the system's folders
unset LD_PRELOAD

programs_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program_name=${0##*/}
program_name=${program_name%.sh}
rounds=${HAK_PROGRAM_ROUNDS:-1}
results=${HAK_PROGRAM_RESULTS:-}
hakmem_library=${HAKMEM_LIBRARY:?give the library under test, for instance HAKMEM_LIBRARY=out/release/libhakmem.so}
hakmem_library=$(realpath -e "$hakmem_library")
glibc_preload= # the test of a program that brings its own allocator sets it to libc.so.6

work=$(mktemp -d "${TMPDIR:-/tmp}/hakmem-programs.XXXXXX")
chmod 711 "$work" # servers that give up root must reach their files
: >"$work/servers"

# ---- Ends ---------------------------------------------------------------------------------------

end_servers() {
    local pid
    while read -r pid; do
        kill -KILL "$pid" 2>/dev/null || true
    done <"$work/servers"
}

leave() {
    local status=$?
    end_servers
    if [ "${HAK_PROGRAM_KEEP:-0}" = 1 ]; then
        echo "programs.$program_name: the files are in $work" >&2
    else
        rm -rf "$work"
    fi
    exit "$status"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Puts this test's row into the results, in place of an older one.
record_row() {
    [ -n "$results" ] || return 0
    (
        flock 9
        touch "$results"
        grep -v "^$program_name " "$results" >"$results.new" || true
        echo "$program_name $*" >>"$results.new"
        mv "$results.new" "$results"
    ) 9>"$results.lock"
}

fail() {
    echo "programs.$program_name: $*" >&2
    record_row fail - - - - - - -
    exit 1
}

program_needs() {
    if ! command -v "$1" >/dev/null; then
        echo "programs.$program_name: skipped, $1 isn't installed (apt-get install $2)"
        exit 77
    fi
}

# ---- For workloads ------------------------------------------------------------------------------

# Runs a command and counts its time as the workload's.  Where it isn't used, the whole workload counts.
timed() {
    local begin=${EPOCHREALTIME/./} status=0
    "$@" || status=$?
    echo $((${EPOCHREALTIME/./} - begin)) >>"$side_dir/microseconds"
    return "$status"
}

# A port on the loopback interface where nobody listens.
port_find() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        if ! (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
}

# server_start PORT COMMAND...: starts it in the background, sets server_pid, waits till it listens.
server_start() {
    local port=$1 tries=0
    shift
    "$@" >>"$side_dir/server.log" 2>&1 &
    server_pid=$!
    echo "$server_pid" >>"$work/servers"
    until (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        tries=$((tries + 1))
        if [ "$tries" -gt 300 ] || ! kill -0 "$server_pid" 2>/dev/null; then
            echo "the server did not come up: $*"
            tail -n 20 "$side_dir/server.log"
            return 1
        fi >&2
        sleep 0.1
    done
}

# server_stop SIGNAL: sends it to $server_pid and waits for the end of the process.
server_stop() {
    local status=0
    kill "-$1" "$server_pid"
    wait "$server_pid" || status=$?
    if [ "$status" -ne 0 ]; then
        echo "the server ended with status $status"
        tail -n 20 "$side_dir/server.log"
        return 1
    fi >&2
}

# process_observe PID...: notes the heap of a running process as heap_probe.c does at its end.
process_observe() {
    local pid brk has_hakmem
    for pid in "$@"; do
        brk=$(awk '$NF == "[heap]" { print $1 }' "/proc/$pid/maps")
        has_hakmem=$(grep -c -m1 /libhakmem "/proc/$pid/maps" || true)
        brk=${brk:-0-0}
        echo "$pid $((0x${brk#*-} - 0x${brk%-*})) - $has_hakmem 0 0" \
            "$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status") $(cat "/proc/$pid/comm")"
    done >>"$side_dir/heaps"
}

# figure PID NAME: one of hakmem's figures from the line that the process wrote at its end.
figure() {
    grep -E "\"pid\": ?$1[,}]" "$side_dir/figures" | tail -n 1 | sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p"
}

# What a test may define otherwise.
prepare() { :; }
normalise() { cat; }
prove_more() { :; } # further proof, for the run on hakmem

# ---- The two runs -------------------------------------------------------------------------------

# side_run glibc|hakmem ROUND
side_run() {
    local status begin
    side=$1
    side_dir=$work/$1.$2
    mkdir -m 755 "$side_dir"
    : >"$side_dir/heaps"
    : >"$side_dir/figures"
    chmod 666 "$side_dir/heaps" "$side_dir/figures"
    if [ "$side" = hakmem ]; then
        under=(env "LD_PRELOAD=$hakmem_library:$HAK_HEAP_PROBE" "HAKMEM_STATS=$side_dir/figures")
    else
        under=(env "LD_PRELOAD=${glibc_preload:+$glibc_preload:}$HAK_HEAP_PROBE")
    fi
    under+=("HAK_HEAP_PROBE_FILE=$side_dir/heaps")
    begin=${EPOCHREALTIME/./}
    set +e
    (
        set -e
        cd "$side_dir"
        workload
    ) >"$side_dir/output" 2>"$side_dir/errors" </dev/null
    status=$?
    set -e
    [ -e "$side_dir/microseconds" ] || echo $((${EPOCHREALTIME/./} - begin)) >"$side_dir/microseconds"
    end_servers
    if [ "$status" -ne 0 ]; then
        tail -n 20 "$side_dir/output" "$side_dir/errors" >&2
        fail "the run on $side ended with status $status."
    fi
    normalise <"$side_dir/output" >"$side_dir/compared"
    awk '{ sum += $1 } END { print sum / 1e6 }' "$side_dir/microseconds" >>"$work/$side.seconds"
}

# ---- The proof ----------------------------------------------------------------------------------

# pids_of NAME: the processes of that name in this run.
pids_of() {
    awk -v name="$1" '{ pid = $1; $1 = $2 = $3 = $4 = $5 = $6 = $7 = ""; sub(/^ */, "") }
        $0 == name { print pid }' "$side_dir/heaps" | sort -u
}

prove_every_process() {
    local complaint
    complaint=$(awk '
        $4 == 0 { print "process " $1 " (" $8 ") ran without hakmem in its memory map"; exit }
        $2 > 0  { print "process " $1 " (" $8 ") had a brk heap of " $2 " bytes"; exit }
        $3 + 0 > 0 { print "in process " $1 " (" $8 ") glibc held " $3 " bytes"; exit }' "$side_dir/heaps")
    [ -z "$complaint" ] || fail "$complaint."
}

# prove_was_served NAME: hakmem has worked in a process of that name.
prove_was_served() {
    awk -v name="$1" '{ peak = $5; refills = $6; $1 = $2 = $3 = $4 = $5 = $6 = $7 = ""; sub(/^ */, "") }
        $0 == name && peak > 0 && refills > 0 { seen = 1 } END { exit !seen }' "$side_dir/heaps" ||
        fail "hakmem's figures show it at work in no process named $1."
}

prove_figures_were_written() {
    local pid name
    for name in "${tested[@]}"; do
        for pid in $(pids_of "$name"); do
            if [ "$(figure "$pid" peak_committed_bytes)" -gt 0 ] 2>/dev/null; then
                return 0
            fi
        done
    done
    fail "no process under test appended its figures to the file of HAKMEM_STATS."
}

prove_glibc_was_seen() {
    awk '$2 > 0 || $3 + 0 > 0 { seen = 1 } $4 { bad = 1 } END { exit !seen || bad }' "$side_dir/heaps" ||
        fail "the probe saw no glibc heap in the run on glibc, so it proves nothing of the other."
}

# The biggest peak RSS of a process under test, in KiB.
note_peak_rss() {
    local name
    for name in "${tested[@]}"; do
        awk -v name="$name" '{ rss = $7; $1 = $2 = $3 = $4 = $5 = $6 = $7 = ""; sub(/^ */, "") }
            $0 == name { print rss }' "$side_dir/heaps"
    done | sort -n | tail -n 1 >>"$work/$side.rss"
}

# ---- The verdict --------------------------------------------------------------------------------

round_run() {
    local name order=(glibc hakmem)
    [ $(($1 % 2)) = 1 ] || order=(hakmem glibc)
    for side in "${order[@]}"; do
        side_run "$side" "$1"
        note_peak_rss
        if [ "$side" = glibc ]; then
            prove_glibc_was_seen
            continue
        fi
        prove_every_process
        for name in "${tested[@]}"; do
            prove_was_served "$name"
        done
        prove_figures_were_written
        prove_more
    done
    if ! diff "$work/glibc.$1/compared" "$work/hakmem.$1/compared" >"$work/difference"; then
        head -n 20 "$work/difference" >&2
        fail "the output on hakmem (>) differs from that on glibc (<)."
    fi
    if [ ! -s "$work/hakmem.$1/compared" ]; then
        fail "the workload printed nothing that could be compared."
    fi
    [ "${HAK_PROGRAM_KEEP:-0}" = 1 ] || rm -rf "$work/glibc.$1" "$work/hakmem.$1"
}

median() {
    sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

probe_build() {
    "${CC:-gcc}" -std=gnu11 -O2 -shared -fPIC -fvisibility=hidden -I "$programs_dir/../../include" \
        -o "$work/heap_probe.so" "$programs_dir/heap_probe.c"
    HAK_HEAP_PROBE=$work/heap_probe.so
}

# program_run PROCESS...: prepares, runs both sides, compares, proves and records.
program_run() {
    local round row
    tested=("$@")
    [ -n "${HAK_HEAP_PROBE:-}" ] || probe_build
    prepare
    for round in $(seq "$rounds"); do
        round_run "$round"
    done
    row=$(awk -v a="$(median "$work/glibc.seconds")" -v b="$(median "$work/hakmem.seconds")" \
        -v c="$(median "$work/glibc.rss")" -v d="$(median "$work/hakmem.rss")" \
        -v rounds="$rounds" 'BEGIN { printf "%.2f %.2f %.2f %.2f %d %d %d", b / a, d / c, a, b, c, d, rounds }')
    record_row pass "$row"
    echo "$row" | awk -v name="$program_name" '{
        printf "programs.%s: passed.  Time %s s on hakmem, %s s on glibc (ratio %s); ", name, $4, $3, $1
        printf "peak RSS %d KiB and %d KiB (ratio %s).\n", $6, $5, $2 }'
}
