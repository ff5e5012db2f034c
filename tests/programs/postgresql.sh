#!/bin/bash
# PostgreSQL makes a cluster, serves pgbench and a script of larger queries, and shuts down.
# SPDX-License-Identifier: MIT
#
# It refuses to run as root: as root, the test starts it as the user postgres of Debian's package
# (by setpriv), else as who you are.  pgbench has a fixed seed and a fixed number of
# transactions, so the tables must hold the same sums at the end on both sides.
. "$(dirname "$0")/support.sh" || exit 2
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
PATH=$bin:$PATH
program_needs "${bin:-/usr/lib/postgresql/15/bin}/postgres" postgresql-15
program_needs "$bin/pgbench" postgresql-15

as_user=()
if [ "$(id -u)" = 0 ]; then
    as_user=(setpriv --reuid=postgres --regid=postgres --init-groups)
fi

prepare() {
    cat >"$work/queries.sql" <<'SQL'
CREATE TABLE reading (id int PRIMARY KEY, station int, at timestamp, value double precision, note text, extra jsonb);
INSERT INTO reading SELECT i, i * 7919 % 97, timestamp '2020-01-01' + i * interval '1 minute', i * 31 % 1009 / 7.0,
    repeat(md5(i::text), i % 5), jsonb_build_object('i', i, 'list', jsonb_build_array(i % 3, i % 5, md5((i % 100)::text)))
    FROM generate_series(1, 60000) AS i;
CREATE INDEX ON reading (station, at);
CREATE INDEX ON reading USING gin (extra);
ANALYZE reading;
SELECT station, count(*), round(avg(value)::numeric, 6), max(length(note)) FROM reading GROUP BY station ORDER BY station LIMIT 10;
SELECT count(*) FROM reading WHERE extra @> '{"list": [1]}';
SELECT md5(string_agg(note, ',' ORDER BY value, id)) FROM reading;
SELECT sum(rank) FROM (SELECT rank() OVER (PARTITION BY station ORDER BY value, id) FROM reading) AS ranked;
SELECT count(*), sum(a.id) FROM reading a JOIN reading b ON a.note = b.note AND a.id < b.id AND a.station = b.station;
WITH RECURSIVE walk (n, path) AS (SELECT 1, array[1] UNION ALL SELECT n * 3 % 1009, path || n FROM walk WHERE array_length(path, 1) < 300)
    SELECT array_length(path, 1), md5(path::text) FROM walk ORDER BY 1 DESC LIMIT 1;
DO $$ DECLARE total bigint := 0; row record; BEGIN
    FOR row IN SELECT * FROM reading LOOP total := total + length(row.note) * (row.extra ->> 'i')::int % 7; END LOOP;
    RAISE NOTICE 'total %', total; END $$;
UPDATE reading SET note = upper(note) WHERE station < 20;
DELETE FROM reading WHERE station > 60;
VACUUM FULL reading;
SELECT count(*), md5(string_agg(id || note, '' ORDER BY id)) FROM reading;
SQL
    chmod 644 "$work/queries.sql"
}

client() {
    local program=$1
    shift
    "$program" -h 127.0.0.1 -p "$port" -U tester "$@"
}

# The settings make a forked worker of a query that is not big, and skip waiting for the disk.
workload() {
    if [ "${#as_user[@]}" -gt 0 ]; then
        chown postgres "$side_dir"
    fi
    port=$(port_find)
    "${as_user[@]}" "${under[@]}" initdb --pgdata "$side_dir/data" --username tester --auth trust \
        --no-locale --encoding UTF8 --no-sync >&2
    server_start "$port" "${as_user[@]}" "${under[@]}" postgres -D "$side_dir/data" -p "$port" \
        -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c jit=off -c shared_buffers=32MB \
        -c min_parallel_table_scan_size=64kB -c parallel_setup_cost=0 -c parallel_tuple_cost=0
    timed client psql -X -v ON_ERROR_STOP=1 -d postgres -f "$work/queries.sql" 2>&1
    client pgbench --initialize --quiet --scale 2 postgres >&2
    timed client pgbench --client 4 --jobs 1 --transactions 1000 --random-seed 42 --no-vacuum postgres >&2
    timed client pgbench --client 4 --jobs 1 --transactions 100 --random-seed 42 --no-vacuum --select-only \
        --connect postgres >&2
    client psql -X -At -d postgres -c 'SELECT count(*), sum(delta) FROM pgbench_history' \
        -c 'SELECT sum(abalance) FROM pgbench_accounts' -c 'SELECT tid, tbalance FROM pgbench_tellers ORDER BY tid'
    process_observe "$server_pid"
    server_stop INT
    grep -E 'PANIC|FATAL|was terminated' "$side_dir/server.log" || true
}

# psql names the script's folder before a notice.
normalise() {
    sed -E 's/^psql:[^ ]*queries.sql/psql:queries.sql/'
}

program_run postgres
