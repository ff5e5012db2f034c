#!/bin/sh
# `hakmem ab` on programs whose figures are known: verdicts, and everything that is written.
# SPDX-License-Identifier: MIT
#
# usage: ab_verdict.sh HAKMEM POLICY_FOLDER
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
policy=$2

# figure NAME A B: a program that prints A, or B where bands of tiny blocks go to the pool; the last
# digit varies from run to run.  cat is what runs on hakmem and shows it.
figure() {
    cat >"$1" <<EOF
#!/bin/sh
read -r turn <turn
echo \$(((turn + 7) % 10)) >turn
case \${HAKMEM_TINY_PROFILE:-unset} in
off) echo "rate: $3.\$turn" ;;
*) echo "rate: $2.\$turn" ;;
esac | cat
EOF
    chmod +x "$1"
}
echo 1 >turn
figure faster 1000 1100
figure slower 1100 1000
figure same 1000 1000

ab() {
    try "$hakmem" ab --b tiny_profile=off --measure 'rate=rate: ([0-9.]+)' --seed 1 "$@"
    expect_status 0
    expect_empty err
}
ab -- ./faster
expect_line out './faster'
expect_line out 'measured: rate, higher is better'
expect_match out '^runs: in turns, pinned to core [0-9]*; hakmem [0-9.]* served all 30 of them$'
expect_line out 'A: the defaults'
expect_line out 'B: HAKMEM_TINY_PROFILE=off'
expect_match out '^A  *10  *1000\.[0-9]*  *1000\.'
expect_match out '^B  *10  *1100\.'
expect_match out '^A again  *10  *1000\.'
expect_match out '^B/A  *1\.[01][0-9]*, 95 % interval 1\.[01][0-9]* to 1\.10'
expect_match out '^signed-rank  *p = 0\.0020$'
expect_match out '^noise floor  *0\.[0-9]* %: A against itself '
expect_match out "^memo's rule  *GO: mean +[0-9][0-9.]* %, median +[0-9]"
expect_line out 'evidence       better'
expect_match out '^GO: B/A = 1\.[01]'
ab -- ./slower
expect_match out '^NO-GO: B/A = 0\.9'
ab -- ./same
expect_match out '^NEUTRAL: B/A = '
ab --lower-is-better -- ./faster
expect_match out '^NO-GO: B/A = 0\.9'
expect_line out 'measured: rate, lower is better'
# Two rounds are a start, not a proof.
ab --runs 2 -- ./faster
expect_match out '^UNDECIDED: 2 rounds are too few for an interval: .* About 6 rounds would settle it'
# It stops at the first look, and says at which level.
ab --until-decided -- ./faster
expect_match out '95 % interval\|99.5 % interval'
expect_match out '^GO: .*99\.5 % interval .* (10 pairs)'

# A throughput is scaled, and the last one that was printed counts.
try "$hakmem" ab --b bin_bytes=1k --measure throughput --runs 2 -- \
    sh -c "printf '7 ops/s\\nrate: 2.5k ops/s, 3 s\\n' | cat"
expect_status 0
expect_line out 'measured: throughput in k ops/s, higher is better'
expect_match out '^A  *2  *2\.5000 '
try "$hakmem" ab --b bin_bytes=1k --measure 'n=^([0-9]+)' --runs 2 -- sh -c "printf '5 6 7\\n8 9\\n' | cat"
expect_match out '^A  *2  *8\.0000 '

# Several gates are corrected for each other.
ab_gates() {
    try "$hakmem" ab "$@" --measure 'rate=rate: ([0-9.]+)' --runs 8 -- ./faster
    expect_status 0
}
ab_gates --gate tiny_profile --gate bin_bytes=1k
expect_line out 'All together, corrected for 4 tries:'
expect_match out '^GO  *1\.[01][0-9]*  HAKMEM_TINY_PROFILE=off$'
expect_match out '^NEUTRAL  *[01]\.[0-9]*  HAKMEM_BIN_BYTES=1k$'
expect_match out '98\.75 % interval'
try "$hakmem" ab --all-gates --runs 2 -- cat turn
expect_status 0
expect_match out '^B: HAKMEM_DIRTY_LIMIT=4194304$'
expect_match out '^B: HAKMEM_TINY_PROFILE=hot$'
expect_no_match out 'HAKMEM_VERBOSE'

# Only what is named, and what any program needs, reaches the program.
cat >environment <<'EOF'
#!/bin/sh
env | cat >>seen
EOF
chmod +x environment
: >seen
try env STRANGE=1 NAMED=2 HAKMEM_BIN_BYTES=2k LD_PRELOAD=libm.so.6 "$hakmem" ab --profile lean \
    --a dirty_limit=1MiB --b DIRTY_LIMIT=2MiB --env NAMED --env OTHER=3 --runs 2 -- ./environment
expect_status 0
expect_no_match seen '^STRANGE='
expect_no_match seen '^HAKMEM_BIN_BYTES='
expect_no_match seen 'libm\.so'
for line in NAMED=2 OTHER=3 HAKMEM_PROFILE=lean HAKMEM_DIRTY_LIMIT=1MiB HAKMEM_DIRTY_LIMIT=2MiB "HOME=$HOME"; do
    expect_line seen "$line"
done
# Both sides have an environment of one size.
sort -u seen | grep '^AB_PADDING=' >padding
[ -s padding ] || fault "no padding"

# What is measured without the program's words.
for measure in time cpu rss faults; do
    try "$hakmem" ab --a bin_bytes=64k --b bin_bytes=64k --measure $measure --runs 6 --no-pin -- sort turn
    expect_status 0
    expect_match out "^measured: $measure.*, lower is better"
    expect_match out '^runs: in turns, on any core; '
done

# One JSON document.
ab --json -- ./faster
for text in '"measure": "rate"' '"HAKMEM_TINY_PROFILE": "off"' '"verdict": "GO"' '"memo_rule": "GO"' \
    '"control_is_clean": true' '"n": 10' '"seed": 1'; do
    expect_match out "$text"
done
[ "$(grep -c '"figure":' out)" = 30 ] || fault "not all runs are there"
if command -v python3 >/dev/null; then
    python3 -m json.tool <out >/dev/null || fault "it is no JSON"
fi
ab --json --runs 2 -- ./faster
expect_match out '"high": null'

# A record, and progress off a terminal.
mkdir -p docs/analysis core/policy
try "$hakmem" ab --b tiny_profile=off --measure 'rate=rate: ([0-9.]+)' --progress \
    --markdown=docs/analysis/0042-pool.md -- ./faster
expect_status 0
expect_match err '^round 10 of 10, B/A 1\.[01][0-9]* so far, 0 s left at most$'
record=docs/analysis/0042-pool.md
expect_line $record '# 0042: HAKMEM_TINY_PROFILE=off against the defaults'
for part in Question Machine Command 'Verdict: GO'; do
    expect_match $record "^\*\*$part\.\*\* "
done
expect_match $record '^\*\*Status\.\*\* proposed: B/A = 1\.[01][0-9]*, .* interval 1\..* to 1\..* (10 pairs)\.$'
# shellcheck disable=SC2016
expect_match $record '^\*\*Command\.\*\* `hakmem ab --b tiny_profile=off --measure '"'rate=rate: (\[0-9.\]+)'"
ab --markdown -- ./faster
expect_match out '^\*\*Verdict: GO\.\*\* '
ab --markdown -- ./slower
expect_match out '^\*\*Status\.\*\* rejected: B/A = 0\.9'
ab --markdown --runs 2 -- ./faster
expect_match out '^\*\*Status\.\*\* undecided: 2 rounds are too few for an interval'
ab_gates --gate tiny_profile --gate bin_bytes=1k --markdown
expect_match out '^\*\*Status\.\*\* proposed: of 4 settings [12] GO, '

# A picture with every run.
if command -v gnuplot >/dev/null; then
    ab --plot runs.svg -- ./faster
    expect_match runs.svg '<svg'
    [ "$(grep -c 'xlink:href=.#gpPt' runs.svg)" -ge 40 ] || fault "fewer than 40 points are drawn"
    expect_match runs.svg 'GO: B/A 1\.[01]'
fi

# Promotion: only a GO, and only with its record.
cp "$policy/profiles.def" core/policy/profiles.def
cp core/policy/profiles.def before
promote() {
    try "$hakmem" ab --profile lean --b tiny_profile=off --measure 'rate=rate: ([0-9.]+)' \
        --markdown=docs/analysis/0043-lean.md --promote -- "$1"
}
promote ./same
expect_status 1
expect_line err 'hakmem: Nothing was promoted: the verdict is NEUTRAL, not GO.'
cmp -s before core/policy/profiles.def || fault "the presets were changed"
expect_match docs/analysis/0043-lean.md '^\*\*Status\.\*\* neutral: '
promote ./faster
expect_status 0
expect_match err '^hakmem: lean now has HAKMEM_TINY_PROFILE=off\. '
expect_match docs/analysis/0043-lean.md '^\*\*Status\.\*\* adopted: B/A = .*, in the preset lean\.$'
expect_line core/policy/profiles.def '// HAKMEM_TINY_PROFILE=off: docs/analysis/0043-lean.md'
expect_match core/policy/profiles.def '^PROFILE("lean", "HAKMEM_.* HAKMEM_TINY_PROFILE=off",$'
promote ./faster
expect_status 1
expect_match err '^hakmem: docs/analysis/0043-lean.md is the record of an earlier promotion in '
expect_match docs/analysis/0043-lean.md '^\*\*Status\.\*\* adopted'
diff before core/policy/profiles.def | grep -c '^[<>]' >changed
expect_line changed 3
[ "$(find core docs -type f | wc -l)" = 3 ] || fault "something else was left behind"
finish
