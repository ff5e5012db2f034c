#!/bin/sh
# Checks the checks: each must accept a small good tree and refuse it with one fault put in.
# SPDX-License-Identifier: MIT
set -eu
usage='usage: check_checks.sh PROJECT_DIR COMPILER'
scripts=${1:?$usage}/scripts
compiler=${2:?$usage}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
count=0

good_tree()
{
    rm -rf "$scratch/tree"
    mkdir -p "$scratch/tree"
    cd "$scratch/tree"
    mkdir -p core/base core/os core/policy core/thread core/front core/box docs/analysis cmake scripts include .ci
    printf '# lowest first\nbase\nos\npolicy\nthread\nfront\n' >core/LAYERS
    printf 'GATE_BOOL(cache, "HAKMEM_CACHE", true)\n' >core/policy/gates.def
    echo '# record' >docs/analysis/0001-cache.md
    : >scripts/budget_exceptions.txt
    echo 'option(HAK_ONE "one" ON)' >CMakeLists.txt
    : >cmake/empty.cmake
    echo '#include "base/bits.h"' >core/os/page.c
    : >core/base/bits.h
    echo '#include "os/page.h"' >core/thread/heap.h
    : >core/os/page.h
    printf '%s\n' '// Box: refill - a door.' '// Boundary: front -> thread.' '// Gate: HAKMEM_CACHE (on).' \
        '// Cost: nothing.' '// Record: docs/analysis/0001-cache.md' '#include "thread/heap.h"' >core/box/refill_box.h
    printf '%s\n' '#include "box/refill_box.h"' 'int door(int a)' '{' '    return a;' '}' >core/front/door.c
    for file in core/*/*.[ch] core/policy/gates.def CMakeLists.txt cmake/empty.cmake; do
        echo 'SPDX-License-Identifier: MIT' >>"$file"
    done
}

# accepts CHECK ARGUMENTS...; refuses TEXT CHECK ARGUMENTS...: its message must hold TEXT.
accepts()
{
    count=$((count + 1))
    check=$1
    shift
    if ! sh "$scripts/$check" "$@" >"$scratch/said" 2>&1; then
        echo "$check refuses what is good:"
        cat "$scratch/said"
        bad=1
    fi
}

refuses()
{
    count=$((count + 1))
    text=$1
    check=$2
    shift 2
    if sh "$scripts/$check" "$@" >"$scratch/said" 2>&1; then
        echo "$check accepts what it should refuse: $text"
        bad=1
    elif ! grep -q "$text" "$scratch/said"; then
        echo "$check refuses, but doesn't say '$text':"
        cat "$scratch/said"
        bad=1
    fi
}

lines()
{
    awk -v count="$1" 'BEGIN { while (count-- > 0) print "    a++;" }'
}

good_tree
accepts check_layers.sh core
accepts check_boxes.sh .
accepts check_budgets.sh .
accepts check_syscalls.sh core
accepts check_names.sh .

echo '#include "front/door.h"' >>core/thread/heap.h
: >core/front/door.h
refuses 'includes front/door.h, a higher layer' check_layers.sh core
good_tree
echo '#include "front/nowhere.h"' >>core/front/door.c
refuses 'no path from core/' check_layers.sh core
good_tree
echo '#include "box/refill_box.h"' >>core/thread/heap.h
refuses 'includes box/refill_box.h, a higher layer' check_layers.sh core
good_tree
: >core/front/door.h
echo '#include "front/door.h"' >>core/box/refill_box.h
accepts check_layers.sh core
good_tree
mkdir core/odd
: >core/odd/odd.h
refuses 'its layer is unknown' check_layers.sh core

good_tree
sed -i '4d' core/box/refill_box.h
refuses "line 4 must be '// Cost: ...'" check_boxes.sh .
good_tree
sed -i '3a //   off: one block a visit.' core/box/refill_box.h
accepts check_boxes.sh .
good_tree
sed -i 's/HAKMEM_CACHE/HAKMEM_CASH/' core/box/refill_box.h
refuses "isn't in gates.def" check_boxes.sh .
good_tree
rm docs/analysis/0001-cache.md
refuses "doesn't exist" check_boxes.sh .
good_tree
sed -i 's/front -> thread/thread -> front/' core/box/refill_box.h
refuses "doesn't lead down" check_boxes.sh .
good_tree
sed -i '/refill_box/d' core/front/door.c
refuses 'nobody includes it' check_boxes.sh .

good_tree
lines 801 >core/front/long.h
refuses 'long.h: 801 lines, at most 800' check_budgets.sh .
echo 'file 900 core/front/long.h' >scripts/budget_exceptions.txt
lines 800 >core/front/long.h
refuses 'is not needed' check_budgets.sh .
good_tree
{ printf 'static int *wide(int a)\n{\n'; lines 69; echo '}'; } >core/front/wide.c
refuses 'wide has 71 lines, at most 70' check_budgets.sh .
echo 'function 71 core/front/wide.c:wide' >scripts/budget_exceptions.txt
refuses 'functions are over 35 lines' check_budgets.sh .
good_tree
printf 'int f(void)\n{\n#if A\n    return 1;\n#endif\n}\n' >core/front/wide.c
refuses '#if inside a function' check_budgets.sh .
good_tree
for i in 1 2 3 4 5 6 7 8; do echo "option(HAK_NUMBER_$i \"one more\" ON)" >>CMakeLists.txt; done
refuses '9 build options' check_budgets.sh .

good_tree
echo 'int f(void) { return madvise(0, 0, 4); }' >>core/thread/heap.h
refuses 'madvise() is a system call' check_syscalls.sh core
good_tree
echo '#include <sys/mman.h>' >>core/thread/heap.h
refuses '<sys/mman.h> belongs in core/os' check_syscalls.sh core
good_tree
echo 'int f(void) { return getenv("A") != 0; }' >>core/os/page.c
refuses 'getenv() may allocate' check_syscalls.sh core
good_tree
mkdir core/override
echo 'int f(void) { return dlsym(0, "a") != 0; } // SPDX-License-Identifier: MIT' >core/override/loader.c
accepts check_syscalls.sh core
mv core/override/loader.c core/override/names.c
refuses 'dlsym() may allocate' check_syscalls.sh core
good_tree
echo 'int f(void) { return os.write(1); /* mmap() */ } // munmap()' >>core/thread/heap.h
accepts check_syscalls.sh core

good_tree
sed -i '/SPDX/d' core/front/door.c
refuses 'door.c: needs one line' check_names.sh .
good_tree
echo '// SPDX-License-Identifier: MIT' >core/front/Big.c
refuses "isn't snake_case" check_names.sh .
good_tree
cp core/front/door.c core/thread/door.c
refuses 'more than one file is named: door.c' check_names.sh .

# An atomic object, and the page that argues it.
good_atomics()
{
    good_tree
    mkdir -p docs/design
    printf 'struct page {\n    struct page *_Atomic next;\n};\n' >>core/os/page.h
    printf '## core/os/page.h\n\n| %snext%s | relaxed |\n' '`' '`' >docs/design/memory-model.md
}
good_atomics
accepts check_memory_model.sh .
echo 'static _Atomic(struct page *) first = 0;' >>core/os/page.c
refuses "core/os/page.c: first isn't argued" check_memory_model.sh .
good_atomics
echo '## core/base/bits.h' >>docs/design/memory-model.md
refuses 'core/base/bits.h has no atomic object' check_memory_model.sh .
good_atomics
echo 'int f(struct page *p) { return atomic_load(&p->next) != 0; }' >>core/os/page.c
refuses 'must name its order' check_memory_model.sh .

printf '  Test  #7: unit.page\n  Test #12: stress.minute\n' >"$scratch/tests"
# shellcheck disable=SC2016
printf '| A1 | hangs | here #1 | `unit.page`, `stress.minute` |\n| A2 | x | y | known limit: so |\n' >"$scratch/page"
accepts check_known_faults.sh "$scratch/page" "$scratch/tests"
sed -i 's/unit.page/unit.pages/' "$scratch/page"
refuses 'there is no test unit.pages' check_known_faults.sh "$scratch/page" "$scratch/tests"
echo '| A3 | crashes | there #2 | |' >"$scratch/page"
refuses 'neither a test nor a known limit' check_known_faults.sh "$scratch/page" "$scratch/tests"

# The hit path and the exports, on libraries made for this.
library()
{
    printf 'HAK int bump;\n%s\n' "$1" >"$scratch/library.c"
    "$compiler" -O2 -g -fPIC -shared -nostdlib -fvisibility=hidden "-DHAK=__attribute__((visibility(\"default\")))" \
        -Wl,-z,now,-z,nodelete,-soname,libhakmem.so.0 -Wl,--no-as-needed -o "$scratch/library.so" "$scratch/library.c" -lc
}
if [ "$(uname -m)" = x86_64 ]; then
    library 'HAK int hit(int a) { return a + 1; }'
    accepts check_hit_path.sh "$scratch/library.so" hit 2
    refuses 'over by 1' check_hit_path.sh "$scratch/library.so" hit 1
    refuses 'library.c:2' check_hit_path.sh "$scratch/library.so" hit 1
    library 'extern int other(int a); HAK int hit(int a) { return other(a) + 1; }
__attribute__((noinline)) int other(int a) { __asm__ volatile(""); return a; }'
    refuses 'a call on the way\|a stack frame' check_hit_path.sh "$scratch/library.so" hit 9
    library '__attribute__((noinline)) static int other(int a) { __asm__ volatile(""); return a; }
HAK int hit(int a) { return other(a); }'
    refuses 'a jump on the way' check_hit_path.sh "$scratch/library.so" hit 9
fi
library 'HAK int hit(int a) { return a + 1; }'
accepts check_baseline.sh "$scratch/library.so"
if [ "$(uname -m)" = x86_64 ]; then
    library '__attribute__((target("popcnt"))) HAK int hit(int a) { return __builtin_popcount(a); }'
    refuses 'popcnt .* is above x86-64' check_baseline.sh "$scratch/library.so"
    library '__attribute__((target("avx"))) HAK void hit(float *a) { for (int i = 0; i < 8; i++) a[i] *= a[8 + i]; }'
    refuses 'vmul.* is above x86-64' check_baseline.sh "$scratch/library.so"
fi
library 'HAK int hit(int a) { return a + 1; }'
printf 'bump\nhit\n' >"$scratch/list"
accepts check_exports.sh "$scratch/library.so" "$scratch/list"
printf 'bump\nhit\nmiss\n' >"$scratch/list"
refuses 'listed but not exported: miss' check_exports.sh "$scratch/library.so" "$scratch/list"
printf 'bump\n' >"$scratch/list"
refuses 'exported but not listed: hit' check_exports.sh "$scratch/library.so" "$scratch/list"

[ $bad = 0 ] && echo "$count good and bad samples: every check tells them apart"
exit $bad
