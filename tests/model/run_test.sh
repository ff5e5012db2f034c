#!/bin/sh
# run.sh must refuse a model that breaks, that never gets everywhere, or whose bug isn't found.
# SPDX-License-Identifier: MIT
set -eu
run=$(dirname "$(realpath "$0")")/run.sh
command -v spin >/dev/null || { echo "spin isn't installed: the models aren't checked"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# refuses TEXT: run.sh fails on the model on stdin and says TEXT.
refuses()
{
    cat >"$scratch/sample.pml"
    if sh "$run" "$scratch/sample.pml" >"$scratch/said.txt" 2>&1; then
        echo "run.sh accepts what it should refuse: $1"
        exit 1
    fi
    grep -q "$1" "$scratch/said.txt" || { echo "run.sh doesn't say '$1':"; cat "$scratch/said.txt"; exit 1; }
}

refuses 'an error' <<'END'
byte count = 0;
active [2] proctype thread() { byte seen = count; count = seen + 1; (_nr_pr == 1) -> assert(count == 2) }
END
refuses 'an error' <<'END'
active proctype thread() { false }
END
refuses 'no run reaches line 4' <<'END'
byte count = 0;
active proctype thread() {
    if :: count == 1 ->
        count = 2
    :: else fi
}
END
refuses 'no seeded bug' <<'END'
active proctype thread() { skip }
END
refuses 'BUG_HARMLESS was not found' <<'END'
active proctype thread()
{
#ifdef BUG_HARMLESS
    skip;
#endif
    skip
}
END
echo "five faulty models are refused"
