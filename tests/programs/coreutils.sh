#!/bin/bash
# sort orders 200 MB of text with two threads; ls -lR lists all of /usr/share.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs sort coreutils
program_needs perl perl

prepare() {
    perl -e '
        my ($seed, $bytes) = (1, 0);
        while ($bytes < 200e6) {
            my $text = "";
            for (1 .. 1000) {
                $seed = ($seed * 1103515245 + 12345) & 0x7fffffff;
                $text .= "$seed the line " . ($seed >> 7) . "x" x ($seed >> 16 & 63) . "\n";
            }
            $bytes += length $text;
            print $text;
        }' >"$work/lines"
}

workload() {
    timed env LC_ALL=C "${under[@]}" sort --parallel=2 --buffer-size=512M "$work/lines" >sorted
    timed "${under[@]}" ls -lR /usr/share/ >listing
    cksum sorted listing
    head -n 1000 listing
    rm sorted
}

program_run sort ls
