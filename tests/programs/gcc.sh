#!/bin/bash
# gcc compiles a generated C file of some 6 000 lines at -O2 -g, assembles and links it.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs gcc gcc

prepare() {
    awk 'BEGIN {
        functions = 180
        print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>"
        for (i = 0; i < functions; i++) {
            printf "struct record%d { int kind; double weight[%d]; const char *name; struct record%d *next; };\n", i, i % 7 + 1, i
            printf "__attribute__((noinline)) static unsigned step%d(unsigned seed, unsigned *total)\n{\n", i
            printf "    struct record%d record = {.kind = %d, .name = \"record %d\"};\n", i, i, i
            printf "    for (unsigned n = 0; n < %du; n++) {\n", i % 23 + 3
            print "        seed = seed * 1103515245u + 12345u;"
            printf "        switch (seed >> 16 & 7u) {\n"
            for (k = 0; k < 7; k++) {
                printf "        case %d:\n            record.weight[n %% %du] += (double)(seed %% %du) * %d.5;\n            *total ^= seed << %d;\n            break;\n",
                    k, i % 7 + 1, i * 13 + k + 2, k, (i + k) % 13
            }
            printf "        default:\n            *total += (unsigned)strlen(record.name) + (unsigned)record.kind;\n        }\n    }\n"
            printf "    return seed ^ (unsigned)record.weight[0]%s;\n}\n", i ? " ^ step" (i - 1) "(seed / 3u + " i "u, total)" : ""
        }
        printf "int main(void)\n{\n    unsigned total = 0;\n    unsigned seed = step%d(1u, &total);\n", functions - 1
        print "    printf(\"%u %u\\n\", seed, total);\n    return 0;\n}"
    }' >"$work/large.c"
}

workload() {
    cp "$work/large.c" .
    timed "${under[@]}" gcc -std=c11 -O2 -g -Wall -Wextra -ffile-prefix-map="$side_dir"=. -c large.c
    timed "${under[@]}" gcc -o large large.o -lm
    wc -l <large.c
    cksum large.o large
    ./large
}

program_run cc1 gcc as ld collect2
