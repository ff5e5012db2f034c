#!/bin/sh
# shellcheck disable=SC2016  # single-quoted text is meant as it stands
# Settings reach the program; a wrong one is told in a sentence and the program isn't started.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"

try "$hakmem" run --profile lean --set HAKMEM_DIRTY_LIMIT=8MiB --set bin_bytes=1k -- env
expect_status 0
expect_line out HAKMEM_PROFILE=lean
expect_line out HAKMEM_DIRTY_LIMIT=8MiB
expect_line out HAKMEM_BIN_BYTES=1k
expect_match out '^LD_PRELOAD=/.*/libhakmem\.so[.0-9]*$'
expect_empty err

# A profile may be a file, which is handed on by its whole path.
echo HAKMEM_DIRTY_LIMIT=3MiB >my.profile
for option in --profile=./my.profile --set=profile=./my.profile; do
    try "$hakmem" run $option -- env
    expect_status 0
    expect_line out "HAKMEM_PROFILE=$(pwd -P)/my.profile"
    expect_empty err
done
try env HAKMEM_PROFILE=./my.profile "$hakmem" run -- env
expect_line out "HAKMEM_PROFILE=$(pwd -P)/my.profile"
try "$hakmem" run --set learner=on --set tiny_static_route=1 --set verbose=on -- true
expect_match err 'HAKMEM_LEARNER has no effect with HAKMEM_TINY_STATIC_ROUTE=1'

# --set wins over the environment, the last one over those before it.
try env HAKMEM_DIRTY_LIMIT=1MiB "$hakmem" run --set dirty_limit=2MiB --set Dirty_Limit=3MiB -- env
expect_line out HAKMEM_DIRTY_LIMIT=3MiB

# What is preloaded already stays, after hakmem.
try env LD_PRELOAD=libm.so.6 "$hakmem" run -- env
expect_match out '^LD_PRELOAD=/.*/libhakmem\.so[.0-9]*:libm\.so\.6$'

# refuse SENTENCE OPTION...
refuse() {
    sentence=$1
    shift
    rm -f started
    try "$hakmem" run "$@" -- touch started
    expect_status 2
    expect_line err "$sentence"
    expect_empty out
    [ ! -e started ] || fault "the program was started"
}
refuse 'hakmem: HAKMEM_DIRTY_LIMT is not a gate. Did you mean HAKMEM_DIRTY_LIMIT? `hakmem gates` lists them.' \
    --set HAKMEM_DIRTY_LIMT=1MiB
refuse 'hakmem: dirty-limit is not a gate. Did you mean HAKMEM_DIRTY_LIMIT? `hakmem gates` lists them.' \
    --set dirty-limit=1MiB
refuse 'hakmem: QUARTZ is not a gate. `hakmem gates` lists them.' --set QUARTZ=1
refuse 'hakmem: HAKMEM_DIRTY_LIMIT=ten is not a size. Give a size up to 1TiB, or off; a size is bytes with a unit, e.g. 16MiB.' \
    --set dirty_limit=ten
refuse 'hakmem: HAKMEM_DIRTY_SHARE=101 is out of range. Give 0 to 100.' --set dirty_share=101
refuse 'hakmem: HAKMEM_VERBOSE=maybe is neither on nor off. Give on or off.' --set verbose=maybe
refuse 'hakmem: HAKMEM_TINY_PROFILE=warm is not one of its words. Give conservative|hot|full|off.' \
    --set tiny_profile=warm
refuse 'hakmem: HAKMEM_PROFILE=laen is not a profile. Did you mean lean? `hakmem profiles` lists them.' \
    --profile laen
refuse 'hakmem: HAKMEM_PROFILE=laen is not a profile. Did you mean lean? `hakmem profiles` lists them.' \
    --set profile=laen
refuse 'hakmem: HAKMEM_PROFILE=./no.profile cannot be read; ignored. Give the path of a text file of lines GATE=VALUE.' \
    --profile ./no.profile
printf 'HAKMEM_DIRTY_LIMIT=1MiB\nHAKMEM_DIRTY_SHARE=lots\n' >wrong.profile
refuse "hakmem: $(pwd -P)/wrong.profile, line 2: HAKMEM_DIRTY_SHARE=lots is not a whole number; using 12. Give 0 to 100." \
    --profile ./wrong.profile
refuse 'hakmem: HAKMEM_ALLOC_GATE_SHAPE=2 is not one of its words. Give fused|0|1.' \
    --set alloc_gate_shape=2
refuse 'hakmem: --set dirty_limit is not a setting. Give GATE=value, e.g. --set dirty_limit=16MiB.' \
    --set dirty_limit
refuse 'hakmem: HAKMEM_DIRTY_SHARE=x is not a whole number. Give 0 to 100.' --stats --set dirty_share=x

# What is wrong in the environment is told, but does not stop the program.
try env HAKMEM_LIMIT=lots HAKMEM_BINBYTES=1k "$hakmem" run -- echo ran
expect_status 0
expect_line out ran
expect_line err 'hakmem: HAKMEM_LIMIT=lots is not a size; using off. Give a size, or off, or auto; a size is bytes with a unit, e.g. 16MiB.'
expect_line err 'hakmem: HAKMEM_BINBYTES is not a setting of hakmem; ignored. Did you mean HAKMEM_BIN_BYTES? `hakmem gates` lists them.'

try env HAKMEM_PROFILE=./wrong.profile "$hakmem" run -- echo ran
expect_status 0
expect_line out ran
expect_line err 'hakmem: ./wrong.profile, line 2: HAKMEM_DIRTY_SHARE=lots is not a whole number; using 12. Give 0 to 100.'

# A library that is not there.
try env HAKMEM_LIBRARY=./nowhere.so "$hakmem" run -- touch started
expect_status 1
expect_match err '^hakmem: HAKMEM_LIBRARY=./nowhere.so cannot be read: No such file or directory\. '
[ ! -e started ] || fault "the program was started without the library"

# A path that LD_PRELOAD can't hold.
mkdir 'a folder'
: >'a folder/libhakmem.so'
try env HAKMEM_LIBRARY='a folder/libhakmem.so' "$hakmem" run -- touch started
expect_status 1
expect_match err 'a space or a colon'

try "$hakmem" run
expect_status 2
expect_match err 'no program was given'
try "$hakmem" run --colour -- true
expect_status 2
finish
