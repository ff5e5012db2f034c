#!/bin/sh
# Writes docs/reference/environment.md and docs/analysis/ENV_PROFILE_PRESETS.md from the tables of the
# hakmem command.
# SPDX-License-Identifier: MIT
#
# usage: make_reference.sh HAKMEM           writes the pages
#        make_reference.sh --check HAKMEM   fails when a committed page differs
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

made=$(mktemp)
trap 'rm -f "$made"' EXIT
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
exit $bad
