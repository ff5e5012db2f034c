#!/bin/bash
# redis-server answers redis-benchmark and a fixed list of commands, saves in a forked child, purges.
# SPDX-License-Identifier: MIT
#
# Debian's redis-server is linked to libjemalloc, so its "glibc" run has libc.so.6 preloaded, whose
# malloc then comes first.  That hakmem wins over libjemalloc is proved four ways, beside what all
# tests prove: redis asks jemalloc itself for its figures, through mallctl, which nobody takes over
# (INFO memory, allocator_allocated).  They must stay below 1 MiB while redis counts tens of MiB in use;
# hakmem's own live_bytes, written at the end of the server, must hold what redis still used then;
# hakmem's peak must reach redis's; and in a third run, without any preload, jemalloc's figure must
# be as high as redis's, which shows that it would tell.
. "$(dirname "$0")/support.sh" || exit 2
program_needs redis-server redis-server
program_needs redis-benchmark redis-tools
glibc_preload=libc.so.6

commands() {
    awk 'BEGIN {
        for (i = 0; i < 60000; i++) {
            seed = (seed * 1103515245 + 12345) % 2147483648
            pick = int(seed / 65536)
            kind = i % 6
            if (kind == 0) printf "SET text:%d %0*d\r\n", pick % 5000, pick % 900 + 1, i
            if (kind == 1) printf "APPEND text:%d more-%d\r\n", pick % 5000, i
            if (kind == 2) printf "HSET hash:%d field%d %d\r\n", pick % 300, i % 400, pick
            if (kind == 3) printf "RPUSH list:%d %d-%d\r\n", pick % 200, i, pick
            if (kind == 4) printf "ZADD sorted:%d %d member%d\r\n", pick % 100, pick % 1000, i % 700
            if (kind == 5) printf "DEL text:%d\r\n", (pick * 7) % 5000
        }
    }'
}

prepare() {
    commands >"$work/commands"
    cat >"$work/digest.lua" <<'LUA'
local keys = redis.call('KEYS', '*')
table.sort(keys)
local digest = ''
for _, key in ipairs(keys) do
    digest = redis.sha1hex(digest .. key .. redis.call('DUMP', key))
end
return {#keys, digest}
LUA
}

client() { redis-cli -p "$port" "$@"; }

info() { client INFO "$1" | tr -d '\r' | sed -n "s/^$2://p"; }

# What redis and jemalloc count, now: used, allocated by jemalloc, peak.
note_memory() {
    echo "$1 $(info memory used_memory) $(info memory allocator_allocated) $(info memory used_memory_peak)" >>memory
}

# wait_for_child WHAT FIELD: waits for the forked child and prints how it ended.
wait_for_child() {
    while [ "$(info persistence "$1_in_progress")" = 1 ]; do
        sleep 0.05
    done
    info persistence "$2"
}

start() {
    port=$(port_find)
    server_start "$port" "$@" redis-server --bind 127.0.0.1 --port "$port" --dir "$side_dir" --save '' \
        --appendonly no --daemonize no --io-threads 2
}

workload() {
    start "${under[@]}"
    client --pipe <"$work/commands"
    client EVAL "$(cat "$work/digest.lua")" 0
    timed redis-benchmark -p "$port" -q -n 60000 -c 20 -P 8 -r 100000 -d 200 \
        -t set,get,incr,lpush,rpop,sadd,hset,zadd >&2
    timed redis-benchmark -p "$port" -q -n 5000 -c 20 -t lrange_100 >&2
    note_memory loaded
    client BGSAVE
    wait_for_child rdb_bgsave rdb_last_bgsave_status
    client DEL mylist >/dev/null
    client EVAL "$(cat "$work/digest.lua")" 0 >/dev/null
    client FLUSHDB
    client --pipe <"$work/commands"
    client BGREWRITEAOF
    wait_for_child aof_rewrite aof_last_bgrewrite_status
    client MEMORY PURGE
    client MEMORY DOCTOR >/dev/null
    client EVAL "$(cat "$work/digest.lua")" 0
    note_memory last
    process_observe "$server_pid"
    client SHUTDOWN NOSAVE
    wait "$server_pid"
}

prove_more() {
    local used allocated peak
    read -r _ used allocated peak < <(grep loaded "$side_dir/memory")
    if [ "$used" -lt $((20 << 20)) ] || [ "$allocated" -ge $((1 << 20)) ]; then
        fail "redis used $used bytes, and jemalloc says that $allocated of them are its own."
    fi
    local pid live committed
    pid=$(awk '$3 == "-" { print $1; exit }' "$side_dir/heaps")
    committed=$(figure "$pid" peak_committed_bytes)
    live=$(figure "$pid" live_bytes)
    if [ "${committed:-0}" -lt "$peak" ]; then
        fail "redis used $peak bytes at its peak, hakmem committed only ${committed:-0}."
    fi
    read -r _ used allocated peak < <(grep last "$side_dir/memory")
    if [ "${live:-0}" -lt $((used / 2)) ]; then
        fail "redis used $used bytes at its end, hakmem says that only ${live:-0} were live."
    fi
    prove_jemalloc_would_tell
}

prove_jemalloc_would_tell() {
    local used allocated
    side_dir=$work/jemalloc
    mkdir -p "$side_dir"
    start
    client --pipe <"$work/commands" >/dev/null
    used=$(info memory used_memory)
    allocated=$(info memory allocator_allocated)
    client SHUTDOWN NOSAVE
    wait "$server_pid"
    if [ "$allocated" -lt $((used * 3 / 4)) ]; then
        fail "without a preload redis used $used bytes and jemalloc says $allocated: its figure proves nothing."
    fi
}

program_run redis-server
