#!/bin/sh
# scripts/make_reference.sh makes the index of records: it takes what `hakmem ab` and `hakmem compare`
# write as it is, and refuses a record or a gate that lacks something.
# SPDX-License-Identifier: MIT
#
# usage: record_index.sh HAKMEM PROJECT_FOLDER
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
project=$2
analysis=docs/analysis

# A copy to put faults into.
take_copy() {
    rm -rf docs scripts
    mkdir -p docs scripts
    cp "$project/scripts/make_reference.sh" scripts
    cp -R "$project/docs/analysis" "$project/docs/reference" docs
}

make_pages() {
    try sh scripts/make_reference.sh "$@" "$hakmem"
}

# refuse SENTENCE: both ways of making the pages say it, and the index stays what it was.
refuse() {
    for option in "" --check; do
        make_pages $option
        expect_status 1
        expect_line err "$1"
        [ "$(wc -l <err)" = 1 ] || fault "more than one line"
    done
    cmp -s $analysis/README.md "$project/$analysis/README.md" || fault "the index was written"
    take_copy
}

take_copy
make_pages --check
expect_status 0
expect_empty err

# What the command writes: with a number, with a name, with several settings, and of allocators.
echo 1 >turn
for record in 9001-hot.md PHASE9_HOT_RESULTS.md; do
    try "$hakmem" ab --b tiny_profile=hot --runs 2 --markdown=$analysis/$record -- cat turn
    expect_status 0
done
try "$hakmem" ab --gate tiny_profile --runs 2 --markdown=$analysis/9002-bands.md -- cat turn
expect_status 0
try "$hakmem" compare --allocators system --rounds 2 --markdown=$analysis/9003-cost.md -- cat turn
expect_status 0
make_pages --check
expect_status 1
expect_match out '^docs/analysis/README.md is not up to date'
make_pages
expect_status 0
expect_match $analysis/README.md '^| \[9001\](9001-hot.md) | HAKMEM_TINY_PROFILE=hot against the defaults | undecided | 2 rounds are too few'
expect_match $analysis/README.md '^| \[PHASE9_HOT_RESULTS\](PHASE9_HOT_RESULTS.md) | HAKMEM_TINY_PROFILE=hot against '
expect_match $analysis/README.md '^| \[9002\](9002-bands.md) | 3 settings against the defaults | undecided | of 3 settings 3 UNDECIDED |$'
expect_match $analysis/README.md '^| \[9003\](9003-cost.md) | Allocators compared: .* | measured | time over system: '
make_pages --check
expect_status 0

# Numbers first, then names.
sed -n 's/^| \[[^]]*\](\([^)]*\)) | .*/\1/p' $analysis/README.md >order
[ "$(wc -l <order)" = "$(find $analysis -name '*.md' ! -name README.md ! -name ENV_PROFILE_PRESETS.md | wc -l)" ] ||
    fault "not every record has its row"
LC_ALL=C sort -c order || fault "the rows are not in order"

# A gate has the records that name it, the one that justifies it first; and only gates that are experiments have a row.
take_copy
printf '# 0000: a name\n\n**Status.** rejected: see HAKMEM_HUGE_PAGES, not XHAKMEM_DIRTY_LIMIT_.\n' >$analysis/0000-name.md
make_pages
expect_status 0
expect_match $analysis/README.md '^| .HAKMEM_HUGE_PAGES. | 8MiB | adopted | \[0007\](0007-huge-pages.md), \[0000\](0000-name.md)'
expect_no_match $analysis/README.md '^| .HAKMEM_DIRTY_LIMIT. .*0000'
expect_match $analysis/README.md '^| .HAKMEM_MID_V3_ENABLED. | off | research box | '
expect_no_match $analysis/README.md '^| .HAKMEM_VERBOSE. '

take_copy
words='adopted, proposed, neutral, undecided, rejected, research box, retired, measured'
record=$analysis/0005-prefetches-on-the-hit-path.md
sed -i '/^\*\*Status\./d' $record
refuse "$record: it has no line \`**Status.** WORD: result.\`, WORD being one of $words."
sed -i 's/^\*\*Status\.\*\* rejected/**Status.** dropped/' $record
refuse "$record: its status \`dropped\` is none of $words."
sed -i 's/^\(\*\*Status\.\*\* rejected\):.*/\1./' $record
refuse "$record: its status needs the result: \`**Status.** rejected: result.\`"
sed -i 1d $record
refuse "$record: its first line must be its title, \`# NAME: the question\`."
: >$record
refuse "$record: its first line must be its title, \`# NAME: the question\`."
rm $analysis/0007-huge-pages.md
refuse "HAKMEM_HUGE_PAGES in core/policy/gates.def names the record docs/analysis/0007-huge-pages.md, which does not exist."
finish
