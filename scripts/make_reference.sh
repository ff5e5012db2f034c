#!/bin/sh
# Writes docs/reference/environment.md, docs/analysis/ENV_PROFILE_PRESETS.md and docs/analysis/README.md from
# the tables of the hakmem command and the records of experiments.
# SPDX-License-Identifier: MIT
#
# usage: make_reference.sh HAKMEM           writes the pages
#        make_reference.sh --check HAKMEM   fails when a committed page differs
# Either fails when a record doesn't say its status, or a gate names a record that isn't there.
set -eu

check=no
if [ "${1:-}" = --check ]; then
    check=yes
    shift
fi
hakmem=${1:?usage: make_reference.sh [--check] HAKMEM}
docs=$(dirname "$0")/../docs

# The pages are about the defaults, whatever the caller has set.
for name in $(env | sed -n 's/^\(HAKMEM_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done

LC_ALL=C # everywhere the same order of files
export LC_ALL

scratch=$(mktemp -d)
made=$scratch/page
trap 'rm -rf "$scratch"' EXIT
bad=0

environment_page()
{
    cat <<'END'
# Settings

This page is made by `scripts/make_reference.sh` from `core/policy/gates.def` and
`core/policy/profiles.def`. Change those, not this.

A setting is an environment variable that is read once, when a program allocates for the first time.
`hakmem run --set GATE=VALUE` sets one for a program; `hak_ctl_set` changes those that are read
*live* while it runs. A setting that is given wins over the profile, and the profile over the
default. A value that isn't understood is ignored; `hakmem doctor`, `hakmem run`, and the library
under `HAKMEM_VERBOSE=on`, say so. Programs that run with rights of another user ignore all settings.

A size is a number of bytes or has a unit: `k`, `KB` and `KiB` all mean 1024 bytes, and likewise for
M, G and T.

## Gates

END
    "$hakmem" gates --markdown
    cat <<'END'

`HAKMEM_LIBRARY` is read by the `hakmem` command, not by the library: the path of the `libhakmem.so`
to preload.

## Profiles

`HAKMEM_PROFILE=NAME` chooses one.

END
    "$hakmem" profiles --markdown
    cat <<'END'

`HAKMEM_PROFILE=./my.profile`, a name with a `/` in it, is a file of up to 64 KiB:

```
# for the nightly job
HAKMEM_DIRTY_LIMIT=64MiB
HAKMEM_BIN_BYTES=128KiB
```

It is read once, when the program starts, from the folder that the program is in then; `hakmem run --profile ./my.profile`
hands the whole path on. The first of two equal lines counts. A line that isn't understood is ignored and told as above.
END
}

# From `hakmem profiles`: a name, then, indented, what it is for and what it sets.
preset_sections()
{
    "$hakmem" profiles | awk '
    function end_section() {
        if (name == "") { return }
        print "\n## " name "\n\n" toupper(substr(help, 1, 1)) substr(help, 2) ".\n\n```sh"
        print "HAKMEM_PROFILE=" name " ./bench_random_mixed_hakmem 20000000 400 1\n```\n"
        print settings == "" ? "It sets nothing." : "| sets | to |\n|---|---|" settings
        name = settings = help = ""
    }
    /^[^ ]/ { end_section(); name = $0; next }
    help == "" { help = $0; sub(/^ */, "", help); next }
    {
        gate = value = $1
        sub(/=.*/, "", gate)
        sub(/^[^=]*=/, "", value)
        settings = settings "\n| `" gate "` | " value " |"
    }
    END { end_section() }'
}

presets_page()
{
    cat <<'END'
# Presets

This page is made by `scripts/make_reference.sh` from `core/policy/profiles.def`. Change that, not this.

A preset is a profile: the library itself takes it from `HAKMEM_PROFILE`, in a benchmark as in any program. A gate that is set in the
environment wins over the preset, so a preset is one side of an experiment and the same preset with one gate more the other:

```sh
HAKMEM_PROFILE=MIXED_TINYV3_C7_SAFE HAKMEM_ALLOC_GATE_SHAPE=0 ./bench_random_mixed_hakmem 20000000 400 1
HAKMEM_PROFILE=MIXED_TINYV3_C7_SAFE HAKMEM_ALLOC_GATE_SHAPE=1 ./bench_random_mixed_hakmem 20000000 400 1
```

**Rollback** is one variable: `HAKMEM_PROFILE=default`, or none, takes a preset back; giving its gate another value takes one experiment
back. The four gates of the gated front (`HAKMEM_ALLOC_GATE_SHAPE`, `HAKMEM_ALLOC_ROUTE_SHAPE`, `HAKMEM_TINY_STATIC_ROUTE`,
`HAKMEM_FREE_STATIC_ROUTE`) also take `fused`, which stands for "not set"; when all of them are, the fused front runs.

`scripts/verify_health_profiles.sh` tests each preset.
END
    preset_sections
}

# What one record says, in lines of fields with tabs between: "record FILE NAME QUESTION STATUS RESULT", and
# "names FILE GATE" for each gate in it.
read_record()
{
    awk -v file="${1##*/}" '
    function refuse(sentence) {
        print "docs/analysis/" file ": " sentence >"/dev/stderr"
        is_bad = 1
        exit 1
    }
    BEGIN {
        OFS = "\t"
        words = "adopted, proposed, neutral, undecided, rejected, research box, retired, measured"
        status_head = "**Status.** "
    }
    NR == 1 && /^# ./ {
        question = substr($0, 3)
        name = file
        sub(/\.md$/, "", name)
        if (match(file, /^[0-9]+/)) { name = substr(file, 1, RLENGTH) }
        if (match(question, /^[A-Z]*[0-9][^:=]*: /)) {
            name = substr(question, 1, RLENGTH - 2)
            question = substr(question, RLENGTH + 1)
        }
    }
    index($0, status_head) == 1 && status == "" {
        result = substr($0, length(status_head) + 1)
        colon = index(result, ": ")
        status = colon > 0 ? substr(result, 1, colon - 1) : result
        result = colon > 0 ? substr(result, colon + 2) : ""
        sub(/\.$/, "", status)
        sub(/\.$/, "", result)
        if (index(", " words ", ", ", " status ", ") == 0) { refuse("its status `" status "` is none of " words ".") }
        if (result == "") { refuse("its status needs the result: `" status_head status ": result.`") }
    }
    {
        for (rest = $0; match(rest, /HAKMEM_[A-Z0-9_]+/); rest = substr(rest, RSTART + RLENGTH)) {
            gates[substr(rest, RSTART, RLENGTH)]
        }
    }
    END {
        if (is_bad) { exit 1 }
        if (question == "") { refuse("its first line must be its title, `# NAME: the question`.") }
        if (status == "") { refuse("it has no line `" status_head "WORD: result.`, WORD being one of " words ".") }
        gsub(/\|/, "\\|", question)
        gsub(/\|/, "\\|", result)
        print "record", file, name, question, status, result
        for (gate in gates) { print "names", file, gate }
    }' "$1"
}

# All records, in their order: by number, then by name.
read_records()
{
    is_good=yes
    for record in "$docs"/analysis/*.md; do
        case ${record##*/} in
        README.md | ENV_PROFILE_PRESETS.md) ;;
        *) read_record "$record" || is_good=no ;;
        esac
    done
    [ $is_good = yes ]
}

# From the records as read, and `hakmem gates --json`: a line each key, the gate's record last.
gate_rows()
{
    awk '
    function value(text) {
        sub(/^[^:]*: "/, "", text)
        sub(/",?$/, "", text)
        return text
    }
    FILENAME ~ /records$/ {
        split($0, field, "\t")
        if (field[1] == "record") {
            files[++file_count] = field[2]
            links["docs/analysis/" field[2]] = "[" field[3] "](" field[2] ")"
        } else {
            is_named[field[3], field[2]] = 1
        }
        next
    }
    /^ *"name": / { gate = value($0) }
    /^ *"default": / { initial = value($0) }
    /^ *"status": / { status = value($0) }
    /^ *"record": / {
        record = value($0)
        if (record != "" && !(record in links)) {
            print gate " in core/policy/gates.def names the record " record ", which does not exist." >"/dev/stderr"
            is_bad = 1
            next
        }
        if (status == "stable" && record == "") { next }
        cell = record == "" ? "" : links[record]
        for (i = 1; i <= file_count; i++) {
            path = "docs/analysis/" files[i]
            if (path != record && (gate, files[i]) in is_named) { cell = cell (cell == "" ? "" : ", ") links[path] }
        }
        if (status == "stable") { status = "adopted" }
        if (status == "research") { status = "research box" }
        print "| `" gate "` | " (initial == "" ? "unset" : initial) " | " status " | " (cell == "" ? "none yet" : cell) " |"
    }
    END { exit is_bad }' "$scratch/records" "$scratch/gates"
}

# Reads what the two functions above wrote.
index_page()
{
    cat <<'END'
# Records of experiments

This page is made by `scripts/make_reference.sh` from the records in this folder and from
`core/policy/gates.def`. Change those, not this.

One file an experiment: question, machine, command, figures, verdict. Rejections stay: they save the next person the
afternoon. "Speed" is million operations a second; ratios are taken round by round inside one interleaved, pinned
run, given as median [second lowest, second highest]. Figures of different records don't compare.

The design memo keeps a task list, `CURRENT_TASK.md`: its experiments, how each ended, and what was frozen. This index is that list.

[ENV_PROFILE_PRESETS](ENV_PROFILE_PRESETS.md) lists the presets that experiments start from.

## Records

END
    echo '| record | question | status | verdict |'
    echo '|---|---|---|---|'
    awk -F'\t' '$1 == "record" { print "| [" $3 "](" $2 ") | " $4 " | " $5 " | " $6 " |" }' "$scratch/records"
    cat <<'END'

A record opens with its title, `# NAME: the question`, and a line `**Status.** WORD: result.`; `hakmem ab --markdown=FILE` and
`hakmem compare --markdown=FILE` write both. A name has a number in it: `0007`, `D3`, `B3 on mixed`; a title without one goes by its file's
number or name. The words:

| status | meaning |
|---|---|
| adopted | it is how hakmem works, or what a preset sets |
| proposed | better, and by enough; nothing has it yet |
| neutral | less than 1 % either way, so nothing changes |
| undecided | the figures don't settle it |
| rejected | tried, and not taken |
| research box | stays in the tree, off, while someone can still learn from it |
| retired | was in the tree, and has left it |
| measured | figures, without a change in question |

## Gates

The gates of research boxes and of retired experiments, and those whose defaults a record justifies; beside each the records that
name it. What they do is told in [the list of all gates](../reference/environment.md).

| gate | default | status | records |
|---|---|---|---|
END
    cat "$scratch/gate_rows"
}

# Puts what was made into its file, or compares it.
put()
{
    if [ $check = no ]; then
        cat "$made" >"$docs/$1"
    elif ! diff -u "$docs/$1" "$made"; then
        echo "docs/$1 is not up to date. Run: sh scripts/make_reference.sh $hakmem"
        bad=1
    else
        echo "docs/$1 is up to date"
    fi
}

environment_page >"$made"
put reference/environment.md
presets_page >"$made"
put analysis/ENV_PROFILE_PRESETS.md
"$hakmem" gates --json >"$scratch/gates"
if read_records >"$scratch/records" && gate_rows >"$scratch/gate_rows"; then
    index_page >"$made"
    put analysis/README.md
else
    bad=1
fi
exit $bad
