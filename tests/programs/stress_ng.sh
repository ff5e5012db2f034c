#!/bin/bash
# stress-ng's malloc stressor: a fixed number of random malloc, calloc, realloc, aligned and free calls
# in two processes, then in one with three more threads, then with every page touched.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs stress-ng stress-ng

stress() {
    timed "${under[@]}" stress-ng --temp-path "$side_dir" --verify --seed 1234 --timeout 60 "$@" >&2
}

workload() {
    stress --malloc 2 --malloc-ops 10000 --malloc-bytes 64M --malloc-max 2000
    stress --malloc 2 --malloc-ops 100000 --malloc-bytes 256K --malloc-max 20000
    stress --malloc 1 --malloc-ops 60000 --malloc-bytes 64K --malloc-max 10000 --malloc-pthreads 3
    stress --malloc 1 --malloc-ops 600000 --malloc-bytes 8K --malloc-max 60000 --malloc-touch
    grep -c 'successful run completed' "$side_dir/errors"
}

program_run stress-ng stress-ng-mallo
