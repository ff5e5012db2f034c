#!/bin/bash
# sqlite3 runs a script of 100 000 rows in an in-memory database: inserts, indexes, joins, sorting.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs sqlite3 sqlite3

prepare() {
    awk 'BEGIN {
        print "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, town TEXT, born INTEGER, note TEXT);"
        print "BEGIN;"
        for (i = 1; i <= 100000; i++) {
            seed = (seed * 1103515245 + 12345) % 2147483648
            pick = int(seed / 65536)
            printf "INSERT INTO person VALUES (%d, \x27name %d\x27, \x27town %d\x27, %d, \x27%0*d\x27);\n",
                i, pick % 9973, pick % 311, 1900 + pick % 120, pick % 90 + 1, i
        }
        print "COMMIT;"
    }' >"$work/script.sql"
    cat >>"$work/script.sql" <<'SQL'
CREATE INDEX by_town ON person (town, born);
CREATE INDEX by_name ON person (name);
SELECT count(*), sum(length(note)), min(name), max(name) FROM person;
SELECT town, count(*), avg(born) FROM person GROUP BY town ORDER BY count(*) DESC, town LIMIT 20;
CREATE TABLE pair AS SELECT a.id AS first_id, b.id AS second_id FROM person a JOIN person b
    ON a.name = b.name AND a.id < b.id WHERE a.born = 1950;
SELECT count(*), sum(first_id), sum(second_id) FROM pair;
UPDATE person SET note = note || note || hex(name) WHERE id % 3 = 0;
SELECT sum(length(note)) FROM person;
DELETE FROM person WHERE born % 2 = 1;
SELECT group_concat(name, ',') FROM (SELECT DISTINCT name FROM person ORDER BY note DESC, id LIMIT 500);
WITH RECURSIVE step (n, text) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, text || n FROM step WHERE n < 2000)
    SELECT max(length(text)), sum(length(text)) FROM step;
VACUUM;
PRAGMA integrity_check;
SQL
}

workload() {
    "${under[@]}" sqlite3 -batch :memory: <"$work/script.sql"
}

program_run sqlite3
