#!/bin/sh
# shellcheck disable=SC2016  # single-quoted text is meant as it stands
# `hakmem tune`: what it finds, confirms, refuses to believe, and writes.
# SPDX-License-Identifier: MIT
#
# usage: tune.sh HAKMEM WAVE_PROGRAM
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
wave=$2

# refuse STATUS SENTENCE OPTION...
refuse() {
    wanted=$1
    sentence=$2
    shift 2
    try "$hakmem" tune "$@"
    expect_status "$wanted"
    expect_line err "hakmem: $sentence"
    [ "$(wc -l <err)" = 1 ] || fault "more than one line"
    expect_empty out
    [ ! -e hakmem.profile ] || fault "something was written"
}
refuse 2 'There is nothing to run. Name a program after --, or give --workload mixed.'
refuse 2 '--budget and --most are two bounds for one thing. Give one of them.' --budget 9 --most 9 -- true
refuse 2 '--most none is not a number that it takes. Give 1 to 1000000.' --most none -- true
refuse 2 '--most allows 40 runs, which is too few to try even 3 settings. Give at least 72, or try one setting by `hakmem ab`.' \
    --most 40 -- true
refuse 2 '--measure speed is not a measure. Give throughput, time, cpu, rss, faults, or NAME=regex with the figure in parentheses.' \
    --measure speed -- true
refuse 1 'nowhere was not found.' -- nowhere
refuse 1 'nowhere/my.profile cannot be written: No such file or directory.' --output nowhere/my.profile -- touch started
[ ! -e started ] || fault "the program was started"
refuse 1 'A run of side defaults ended with status 3; a failed run has no figure.' -- sh -c 'exit 3'
refuse 1 'sh left no figures of a heap, so nothing shows that it ran on hakmem: it left by _exit, or does not run on hakmem. `hakmem doctor -- sh` tells which.' \
    -- sh -c 'exit 0'
# Only one setting makes it fail.
refuse 1 'A run of side HAKMEM_TINY_PROFILE=full ended with status 4; a failed run has no figure. Its last words: rate: 5' \
    --measure 'rate=rate: ([0-9]+)' -- \
    sh -c 'echo rate: 5 | cat; [ "$HAKMEM_TINY_PROFILE" != full ] || exit 4'

# figure NAME: a program that prints a rate; standard input says what the settings do to it.  The last
# digit varies from run to run, and cat is what runs on hakmem.
figure() {
    {
        cat <<'EOT'
#!/bin/sh
read -r turn <turn
echo $((turn + 1)) >turn
rate=1000
EOT
        cat
        echo "echo \"rate: \$rate.\$((turn * 7 % 10))\" | cat"
    } >"$1"
    chmod +x "$1"
    echo 0 >turn
}
tune() {
    try "$hakmem" tune --measure 'rate=rate: ([0-9.]+)' --seed 1 "$@"
    expect_status 0
    expect_empty err
}

# Nothing that is set matters.
: | figure idle
tune -- ./idle
expect_line out './idle'
expect_match out '^measured: rate, higher is better; pinned to core [0-9]*; hakmem [0-9.]* served all [0-9]* runs$'
expect_match out '^Nothing helps beyond noise: none of [0-9]* settings seems better than the defaults by 1 %\.$'
expect_line out 'Nothing was written.'
[ ! -e hakmem.profile ] || fault "something was written"

# One setting helps, another harms, the rest does nothing.
figure one <<'EOT'
case ${HAKMEM_TINY_PROFILE:-} in
full) rate=1100 ;;
off) rate=800 ;;
esac
EOT
tune -- ./one
expect_match out '^1\.[01][0-9]* *[0-9]*  shown  *HAKMEM_TINY_PROFILE=full$'
expect_match out '^0\.[78][0-9]* *4  dropped early  HAKMEM_TINY_PROFILE=off$'
expect_line out 'chosen: HAKMEM_TINY_PROFILE=full'
expect_match out '^In 10 fresh pairs, which took no part in the choice: ratio 1\.\(09\|10\)'
expect_line out 'It helps, and is in hakmem.profile. Use it:'
expect_line out '  hakmem run --profile ./hakmem.profile -- PROGRAM'
expect_match hakmem.profile ' Use: hakmem run --profile \./hakmem\.profile -- PROGRAM$'
sed -n 's/^\([0-9.]*\) .* HAKMEM_.*/\1/p' out >ratios
sort -rn ratios | cmp -s - ratios || fault "the ratios aren't in order"
settings() {
    grep -v '^#\|^$' "${1:-hakmem.profile}"
}
[ "$(settings)" = HAKMEM_TINY_PROFILE=full ] || fault "it has the settings: $(settings)"
expect_match hakmem.profile "^# command: hakmem tune --measure 'rate=rate: (\[0-9.\]+)' --seed 1 -- ./one\$"
expect_match hakmem.profile '^# In 10 fresh pairs, which took no part in the choice: ratio 1\.'
expect_match hakmem.profile '^#   1\.[01][0-9]* *[0-9]*  shown  *HAKMEM_TINY_PROFILE=full$'

# One JSON document.
tune --json --output json.profile -- ./one
for text in '"setting": "HAKMEM_TINY_PROFILE=full"' '"verdict": "GO"' '"written": "json.profile"' '"shown": true'; do
    expect_match out "$text"
done
if command -v python3 >/dev/null; then
    python3 -m json.tool <out >/dev/null || fault "it is no JSON"
fi
[ "$(settings json.profile)" = HAKMEM_TINY_PROFILE=full ] || fault "it has the settings: $(settings json.profile)"

# It is not overwritten unasked.
cp hakmem.profile before
try "$hakmem" tune -- ./one
expect_status 2
expect_line err 'hakmem: hakmem.profile is there already. Give --force to overwrite it, or --output FILE.'
cmp -s hakmem.profile before || fault "it was overwritten"
tune --force --output my.profile -- ./one
cmp -s hakmem.profile before || fault "it was overwritten"
[ "$(settings my.profile)" = HAKMEM_TINY_PROFILE=full ] || fault "it has the settings: $(settings my.profile)"

# Two settings that help more together are both written; one that adds nothing is not.
figure two <<'EOT'
[ "${HAKMEM_TINY_PROFILE:-}" != full ] || rate=$((rate + 100))
[ "${HAKMEM_DIRTY_SHARE:-}" != 50 ] || [ -n "${HAKMEM_HEAP_BIN_BYTES:-}" ] || rate=$((rate + 80))
EOT
tune --force -- ./two
expect_match out '^chosen: HAKMEM_TINY_PROFILE=full + HAKMEM_DIRTY_SHARE=50$'
[ "$(settings | sort | tr '\n' ' ')" = 'HAKMEM_DIRTY_SHARE=50 HAKMEM_TINY_PROFILE=full ' ] ||
    fault "it has the settings: $(settings)"
rm hakmem.profile

# A setting that only helps while the choice is made is not believed.  The search takes the same runs
# again; of those that it took, the last are three warm-ups and ten rounds of A, B and A.
echo 0 >turn
tune --output my.profile --force -- ./one
helped=$(($(cat turn) - 33))
figure fickle <<EOT
[ "\${HAKMEM_TINY_PROFILE:-}" != full ] || [ "\$turn" -ge $helped ] || rate=1100
[ "\${HAKMEM_TINY_PROFILE:-}" != off ] || rate=800
EOT
tune -- ./fickle
expect_line out 'chosen: HAKMEM_TINY_PROFILE=full'
expect_match out '^In [0-9]* fresh pairs, which took no part in the choice: ratio \(0\.99\|1\.00\)'
expect_match out '^Nothing helps beyond noise: fresh runs '
[ ! -e hakmem.profile ] || fault "something was written"

# A bound: fewer rounds, then fewer settings.
echo 0 >turn
try "$hakmem" tune --measure 'rate=rate: ([0-9.]+)' --most 100 -- ./one
expect_status 0
expect_match err '^hakmem: [0-9]* of [0-9]* settings are tried: that is what fits\.$'
[ "$(cat turn)" -le 100 ] || fault "it took $(cat turn) runs"
expect_line out 'It helps, and is in hakmem.profile. Use it:'
expect_no_match out "dropped early  $(sed -n 's/^chosen: //p' out)\$"
rm hakmem.profile
try "$hakmem" tune --budget 1 -- sleep 0.1
expect_status 2
expect_match err '^hakmem: --budget allows [0-9]* runs, which is too few .* Give at least [0-9]* seconds, or '

# A program that a setting really helps: it frees more in a wave than is kept without being told.
try "$hakmem" tune --measure faults --most 150 -- "$wave" 6 40
expect_status 0
grep '^HAKMEM_DIRTY_LIMIT=\(64\|256\|512\)MiB$' hakmem.profile >limit || fault "no limit was raised"
while read -r setting; do
    try "$hakmem" run --set "$setting" -- true
    expect_status 0
    expect_empty err
done <<EOT
$(settings)
EOT
finish
