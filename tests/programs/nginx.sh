#!/bin/bash
# nginx serves files of several sizes plain, compressed and through a proxy, loaded by wrk.
# SPDX-License-Identifier: MIT
#
# wrk runs for a fixed time, so the time counted is that of 10 000 answers at the rate it measured.
# Root isn't needed; as root, nginx starts its workers as an unprivileged user, which is tested along.
. "$(dirname "$0")/support.sh" || exit 2
PATH=$PATH:/usr/sbin
program_needs nginx nginx-light
program_needs wrk wrk
program_needs curl curl

prepare() {
    local kib
    mkdir -m 755 "$work/files"
    for kib in 1 10 100 1000; do
        seq "$kib"000000 "$kib"999999 | head -c "${kib}K" >"$work/files/$kib.txt"
    done
    echo '<p>one <!--#include virtual="/1.txt" --> and <!--#echo var="arg_who" --></p>' >"$work/files/page.shtml"
    chmod 644 "$work/files"/*
}

configuration() {
    cat <<END
daemon off;
worker_processes 2;
pid $side_dir/nginx.pid;
error_log $side_dir/error.log;
events { worker_connections 512; }
http {
    access_log $side_dir/access.log combined buffer=64k;
    types { text/plain txt; text/html shtml; }
    client_body_temp_path $side_dir/body;
    proxy_temp_path $side_dir/proxy;
    fastcgi_temp_path $side_dir/fastcgi;
    uwsgi_temp_path $side_dir/uwsgi;
    scgi_temp_path $side_dir/scgi;
    proxy_cache_path $side_dir/cache keys_zone=cache:1m;
    server {
        listen 127.0.0.1:$1;
        root $work/files;
        gzip_min_length 100;
        location / { ssi on; }
        location /gzip/ { alias $work/files/; gzip on; gzip_types text/plain; }
        location /proxy/ { proxy_pass http://127.0.0.1:$1/gzip/; proxy_buffers 16 8k; }
        location /cached/ { proxy_pass http://127.0.0.1:$1/; proxy_cache cache; proxy_cache_valid 1m; }
    }
}
END
}

load() {
    local rate
    wrk --threads 1 --connections 32 --duration 2s --header 'Accept-Encoding: gzip' "http://127.0.0.1:$1$2" >wrk.out
    cat wrk.out >&2
    if grep -qE 'Non-2xx|Socket errors' wrk.out; then
        echo "wrk met errors on $2"
        return 1
    fi
    rate=$(awk '/^Requests\/sec/ { print $2 }' wrk.out)
    awk -v rate="$rate" 'BEGIN { printf "%d\n", 1e4 / rate * 1e6 }' >>microseconds
}

workload() {
    local port path url
    port=$(port_find)
    configuration "$port" >nginx.conf
    : >error.log
    server_start "$port" "${under[@]}" nginx -p "$side_dir" -c "$side_dir/nginx.conf" -e "$side_dir/error.log"
    url=http://127.0.0.1:$port
    for path in /1.txt /10.txt /100.txt /1000.txt /gzip/100.txt /proxy/10.txt /cached/1000.txt '/page.shtml?who=me'; do
        curl --silent --show-error --fail "$url$path" | cksum
        curl --silent --show-error --fail --compressed "$url$path" | cksum
    done
    load "$port" /1.txt
    load "$port" /gzip/10.txt
    load "$port" /proxy/10.txt
    kill -HUP "$server_pid" # new workers, the old ones end
    sleep 0.3
    load "$port" '/page.shtml?who=me'
    mapfile -t workers < <(pgrep -P "$server_pid")
    process_observe "$server_pid" "${workers[@]}"
    server_stop QUIT
    grep -E '\[(alert|crit|emerg)\]' error.log || true
}

program_run nginx
