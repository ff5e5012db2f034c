#!/bin/sh
# shellcheck disable=SC2016  # single-quoted text is meant as it stands
# `hakmem doctor` finds what keeps a program from running on hakmem.
# SPDX-License-Identifier: MIT
#
# usage: doctor.sh HAKMEM STATIC_PROGRAM OWN_MALLOC_PROGRAM OTHER_LIBRARY
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
static_program=$2
own_malloc_program=$3
other_library=$4

# diagnose FINDING PATTERN ARGUMENT...: exit status and one line.
diagnose() {
    finding=$1
    pattern=$2
    shift 2
    try "$@"
    if [ "$finding" = problem ]; then expect_status 1; else expect_status 0; fi
    expect_match out "^$finding *$pattern"
    expect_empty err
    expect_no_match out "$(printf '\033')"
}

diagnose ok 'library: /.*/libhakmem\.so.*, version [0-9.]*, serves malloc when preloaded\.$' "$hakmem" doctor
for subject in settings 'huge pages' overcommit mappings 'address space' 'control group'; do
    expect_match out "^[a-z]*  *$subject: "
done
[ "$(grep -c '^\(ok     \|note   \|problem\)  [a-z ]*: ' out)" = "$(wc -l <out)" ] ||
    fault "a line is not a finding"

# Programs.
diagnose ok 'program: /.*/cat is linked dynamically and can be preloaded\.$' "$hakmem" doctor -- cat
diagnose ok 'program: /bin/cat is linked dynamically' "$hakmem" doctor /bin/cat -- ignored
diagnose problem "program: $static_program runs without hakmem: it is linked statically" \
    "$hakmem" doctor -- "$static_program"
diagnose problem "program: $own_malloc_program runs without hakmem: it has a malloc of its own" \
    "$hakmem" doctor -- "$own_malloc_program"
cp "$own_malloc_program" stripped
strip stripped
diagnose problem 'program: ./stripped runs without hakmem: it has a malloc of its own' \
    "$hakmem" doctor -- ./stripped
diagnose problem 'program: ./nowhere cannot be examined: ' "$hakmem" doctor -- ./nowhere
: >not_executable
diagnose problem 'program: ./not_executable cannot be examined: Permission denied' \
    "$hakmem" doctor -- ./not_executable
: >empty
chmod +x empty
diagnose problem 'program: ./empty runs without hakmem: it is neither' "$hakmem" doctor -- ./empty

# Scripts are followed to the binary that runs them.
printf '#!/bin/cat\n' >script
printf '#!/usr/bin/env -S X=1 cat -n\n' >env_script
printf '#! %s/script\n' "$work" >script_of_script
printf '#!%s\n' "$static_program" >static_script
printf '#!/no/such/shell\n' >orphan
printf '#!%s/loop\n' "$work" >loop
chmod +x script env_script script_of_script static_script orphan loop
for name in script env_script script_of_script; do
    diagnose ok "program: ./$name is a script that /.*bin/cat runs" "$hakmem" doctor -- ./$name
    expect_match out '^ok       program: /.*cat is linked dynamically'
done
diagnose problem "program: $static_program runs without hakmem" "$hakmem" doctor -- ./static_script
diagnose problem 'program: ./orphan cannot be examined' "$hakmem" doctor -- ./orphan
diagnose problem 'program: .*/loop runs without hakmem: it is neither' "$hakmem" doctor -- ./loop

# Programs that gain rights.
cp /bin/cat privileged
chmod u+s privileged
diagnose note 'program: ./privileged is setuid' "$hakmem" doctor -- ./privileged
if [ "$(id -u)" = 0 ]; then
    chown 65534 privileged
    chmod u+s privileged
    diagnose problem 'program: ./privileged runs without hakmem: it is setuid' \
        "$hakmem" doctor -- ./privileged
fi

# Files of other machines, and files cut short: told, without a crash.
cp /bin/cat foreign
printf '\001' | dd of=foreign bs=1 seek=4 conv=notrunc 2>dd_said
diagnose problem 'program: ./foreign runs without hakmem: it is made for another machine' \
    "$hakmem" doctor -- ./foreign
for bytes in 4 16 63 64 65 100 500 1000 4096 10001 20000 35001; do
    head -c $bytes /bin/cat >cut_file
    chmod +x cut_file
    try "$hakmem" doctor -- ./cut_file
    [ "$status" -le 1 ] || fault "a file cut to $bytes bytes: status $status"
done

# Settings.
diagnose problem 'settings: HAKMEM_DIRTYLIMIT is not a setting of hakmem; ignored\. Did you mean HAKMEM_DIRTY_LIMIT?' \
    env HAKMEM_DIRTYLIMIT=1 "$hakmem" doctor
diagnose problem 'settings: HAKMEM_DIRTY_SHARE=200 is out of range; using 12\. Give 0 to 100\.$' \
    env HAKMEM_DIRTY_SHARE=200 "$hakmem" doctor
diagnose problem 'settings: HAKMEM_PROFILE=leen is not a profile; ignored\. Did you mean lean?' \
    env HAKMEM_PROFILE=leen "$hakmem" doctor
diagnose ok 'settings: ' env HAKMEM_DIRTY_LIMIT=1MiB HAKMEM_PROFILE=lean "$hakmem" doctor

# The library.
diagnose problem 'library: HAKMEM_LIBRARY=./nowhere cannot be read' \
    env HAKMEM_LIBRARY=./nowhere "$hakmem" doctor
diagnose problem "library: $other_library is not hakmem\." \
    env HAKMEM_LIBRARY="$other_library" "$hakmem" doctor
diagnose problem 'library: .*/not_executable cannot be preloaded (' \
    env HAKMEM_LIBRARY=./not_executable "$hakmem" doctor
cp "$other_library" libjemalloc.so.2
diagnose note 'LD_PRELOAD: .*/libjemalloc\.so\.2 is another allocator' \
    env LD_PRELOAD="$work/libjemalloc.so.2" "$hakmem" doctor

# Limits.
diagnose note 'address space: limited to 1\.0 GiB' sh -c 'ulimit -v 1048576; exec "$1" doctor' sh "$hakmem"
diagnose problem 'address space: limited to 48\.0 MiB' \
    sh -c 'ulimit -v 49152; exec "$1" doctor' sh "$hakmem"

# `hakmem run` says the same to those who ask, and runs the program all the same.
try "$hakmem" run --stats=summary -- "$static_program"
expect_status 5
expect_match err "^hakmem: $static_program runs without hakmem: it is linked statically"
expect_match summary 'left no figures'
try env HAKMEM_VERBOSE=1 "$hakmem" run -- "$static_program"
expect_status 5
expect_match err "^hakmem: $static_program runs without hakmem"
try "$hakmem" run -- "$static_program"
expect_status 5
expect_empty err
finish
