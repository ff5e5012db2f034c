#!/bin/sh
# Checks mutants.sh on a small tree: a fault that its test sees, one that no test sees, and two that don't count.
# SPDX-License-Identifier: MIT
set -eu
script=$(cd "$(dirname "$0")" && pwd)/mutants.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
mkdir -p "$tree/core/base"
cat >"$tree/core/base/scale.c" <<'TEXT'
int scale(int);
int unused(int);

int scale(int a)
{
    return a > 10 ? 11 : a + 1;
}

int unused(int a)
{
    return a + 2;
}
TEXT
cat >"$tree/scale_test.c" <<'TEXT'
int scale(int);

int main(void)
{
    return scale(3) == 4 && scale(12) == 11 ? 0 : 1;
}
TEXT
cat >"$tree/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES C)
enable_testing()
add_library(hakmem_shared SHARED core/base/scale.c)
set_target_properties(hakmem_shared PROPERTIES OUTPUT_NAME hakmem)
add_executable(scale_test scale_test.c)
target_link_libraries(scale_test PRIVATE hakmem_shared)
add_test(NAME unit.scale COMMAND scale_test)
TEXT

# run [OPTION...]: its lines into $scratch/said, its exit status into $status.
run()
{
    status=0
    sh "$script" --project "$tree" "$@" >"$scratch/said" 2>"$scratch/talk" || status=$?
}

# expect STATUS TEXT: what the run must end with, and what it must have said.
expect()
{
    if [ "$status" != "$1" ] || ! diff "$2" "$scratch/said"; then
        echo "exit status $status instead of $1, or other lines than these:"
        cat "$2" "$scratch/talk"
        exit 1
    fi
}

tab=$(printf '\t')
cat >"$scratch/faults" <<TEXT
core/base/scale.c:6${tab}return a > 10 ? 11 : a + 1; => return a > 10 ? 11 : a + ;${tab}doesn't compile
core/base/scale.c:6${tab}return a > 10 ? 11 : a + 1; => return a >= 11 ? 11 : a + 1;${tab}same machine code
core/base/scale.c:11${tab}return a + 2; => return a - 2;${tab}survived
core/base/scale.c:6${tab}return a > 10 ? 11 : a + 1; => return a > 10 ? 11 : a - 1;${tab}killed by unit.scale (Failed)
TEXT
cp "$tree/core/base/scale.c" "$scratch/scale.c"
run --faults "$scratch/faults" --resume "$scratch/results"
{ cat "$scratch/faults"; echo '1 of 2 killed; 0 more are known to change nothing'; } >"$scratch/expected"
expect 1 "$scratch/expected"
cmp "$tree/core/base/scale.c" "$scratch/scale.c"

# What is known isn't tried again.
run --faults "$scratch/faults" --resume "$scratch/results"
echo '1 of 2 killed; 0 more are known to change nothing' >"$scratch/expected"
expect 1 "$scratch/expected"

# A seed gives the same faults each time, one for each line that has any.
run --list
mv "$scratch/said" "$scratch/expected"
run --list
expect 0 "$scratch/expected"
[ "$(wc -l <"$scratch/said")" = 2 ]
echo "mutants.sh finds what it should"
