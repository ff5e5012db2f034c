#!/bin/sh
# Do the tests pass under every profile, and with each gate flipped?  One line for each setting.
# SPDX-License-Identifier: MIT
set -eu

usage()
{
    cat <<'TEXT'
usage: test_settings.sh [--build DIR] [--tests REGEX] [--list] [SETTING...]
Runs the unit, conformance and stress tests under every profile and with every gate away from its
default, one after another, or only under the settings named (half an hour for all).

  --build DIR    a build with its tests (default out/release)
  --tests REGEX  of these tests only those whose names match
  --list         say what would be tried, and run nothing

A SETTING is a profile, a gate (each of its values is tried), or GATE=VALUE, several in one word.
The settings come from the registry, so a new gate needs no line here.  Left out are the long tests,
the minute of stress, the tests that set gates themselves, those on simulated machines, whose plain twins
run, and those that don't run on hakmem.  The
exit status is 0 all tests passed, 1 a test failed or a setting did not reach the tests, 2 wrong usage.
TEXT
}

refuse()
{
    echo "test_settings.sh: $1" >&2
    exit 2
}

root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/out/release
chosen_tests=.
list_only=
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
while [ $# -gt 0 ]; do
    case $1 in
    --build | --tests)
        [ $# -ge 2 ] || refuse "$1 takes a value. See --help."
        [ "$1" = --tests ] || build=$2
        [ "$1" = --build ] || chosen_tests=$2
        shift
        ;;
    --list) list_only=yes ;;
    --help) usage && exit 0 ;;
    -*) refuse "there is no option $1. See --help." ;;
    *) echo "$1" >>"$scratch/chosen" ;;
    esac
    shift
done
gate_print=$build/tests/gates/gate_print
for file in "$build/libhakmem.so" "$build/cli/hakmem" "$build/tests/unit/gates_test" \
    "$gate_print" "${gate_print}_core" "${gate_print}_static"; do
    [ -e "$file" ] || refuse "$file isn't there. Build first: make"
done
build=$(cd "$build" && pwd)
gate_print=$build/tests/gates/gate_print

# What the caller's environment says must not reach the tests.
for name in $(env | sed -n 's/^\(HAKMEM_[A-Z0-9_]*\)=.*/\1/p'); do
    unset "$name"
done
unset LD_PRELOAD

# Each gate away from its default, one setting a line.  SCRATCH stands for the scratch folder.
# What needs words of its own:
# - A limit must leave room for what the tests ask for: alignments up to 1 GiB take 9 GiB of addresses,
#   blocks that no one may unmap as much.  16GiB is the small one; auto needs a cgroup that has as much.
# - A mask does nothing without the gate that it is for: X_CLASSES without X_ENABLED.
# - A text gate has a path, which nobody can make up.
list_gates()
{
    "$build/cli/hakmem" gates --json | awk -F'"' '
    BEGIN {
        path["HAKMEM_PROFILE"] = "SCRATCH/my.profile"
        path["HAKMEM_CONTROL"] = "SCRATCH/control"
        path["HAKMEM_STATS"] = "SCRATCH/figures"
        small["HAKMEM_LIMIT"] = "16GiB"
    }
    function try(value) {
        if (value != standard) {
            print name "=" value
        }
    }
    function try_numbers(least, most) {
        try(least)
        try(most)
        if (takes ~ /or off/) {
            try("off")
        }
        if (takes ~ /or auto/) {
            try("auto")
        }
    }
    function try_gate(    count, words, i) {
        if (type == "bool") {
            try(standard == "on" ? "off" : "on")
        } else if (type == "choice") {
            count = split(takes, words, "|")
            for (i = 1; i <= count; i++) {
                try(words[i])
            }
        } else if (type == "mask") {
            enabling = name
            sub(/_CLASSES$/, "_ENABLED", enabling)
            print enabling "=on " name "=" (standard == "0xff" ? "0" : "0xff")
        } else if (type == "size") {
            match(takes, /up to [^ ,]*/)
            try_numbers(name in small ? small[name] : "4KiB", RLENGTH < 0 ? "1TiB" : substr(takes, RSTART + 6, RLENGTH - 6))
        } else if (type == "count") {
            count = split(takes, words, " to ")
            try_numbers(words[1], words[count])
        } else if (type == "text" && name in path) {
            try(path[name])
        } else {
            print "no value is known for " name >"/dev/stderr"
            exit 1
        }
    }
    $2 == "name" { name = $4 }
    $2 == "type" { type = $4 }
    $2 == "default" { standard = $4 }
    $2 == "takes" { takes = $4; try_gate() }'
}

# The settings into $scratch/settings.  A gate that could not be moved must not pass unseen.
list_settings()
{
    "$build/cli/hakmem" profiles | sed -n 's/^\([^ ].*\)/HAKMEM_PROFILE=\1/p' >"$scratch/settings"
    list_gates >>"$scratch/settings" || refuse "a gate has no value to try; see above."
    for gate in $("$build/cli/hakmem" gates --json | sed -n 's/^ *"name": "\(.*\)",$/\1/p'); do
        grep -q "\b$gate=" "$scratch/settings" || refuse "$gate is not tried with any value."
    done
    [ -e "$scratch/chosen" ] || return 0
    while read -r word; do
        case $word in
        *=*) echo "$word" ;;
        *) grep -e "^HAKMEM_PROFILE=$word\$" -e "\b$word=" "$scratch/settings" ||
            refuse "$word is neither a profile nor a gate. See --list." ;;
        esac
    done <"$scratch/chosen" >"$scratch/few"
    mv "$scratch/few" "$scratch/settings"
}

# A regular expression of the tests to run.  CTest says the environment of a test before its name.
list_tests()
{
    ctest --test-dir "$build" -N -V -L '^(unit|conformance|stress)$' -LE '^long$' -R "$chosen_tests" |
        awk '/^[0-9]+: +HAKMEM_/ { sets_gates = 1 }
            /^ +Test +#[0-9]+: / {
                if (!sets_gates && $NF !~ /\.glibc$|^unit\.abtest|^stress\.minute$|\.(pages|below)_[0-9]+(k|_bits)$/) {
                    print $NF
                }
                sets_gates = 0
            }' >"$scratch/tests"
    test_count=$(($(wc -l <"$scratch/tests") + 3))
    [ $test_count -gt 3 ] || refuse "no test is left to run."
    tests="^(in_force\\..*|$(tr '\n' '|' <"$scratch/tests" | sed 's/|$//; s/\./\\./g'))\$"
}

# The build's tests, and three that stand among them and show that a setting reached what they are:
# a preloaded program, one that links the allocator's parts, one that links the archive.
write_suite()
{
    cat >"$scratch/CTestTestfile.cmake" <<TEXT
subdirs("$build")
foreach(program "$gate_print" "${gate_print}_core" "${gate_print}_static")
  get_filename_component(name "\${program}" NAME)
  add_test("in_force.\${name}" sh "$scratch/in_force.sh" "\${program}")
endforeach()
set_tests_properties(in_force.gate_print PROPERTIES ENVIRONMENT "LD_PRELOAD=$build/libhakmem.so")
TEXT
    cat >"$scratch/in_force.sh" <<'TEXT'
cd "$(dirname "$0")"
"$1" $(sed 's/=.*//' expected) >"$(basename "$1").said" 2>&1
diff expected "$(basename "$1").said"
TEXT
    mkdir "$scratch/control"
    printf 'HAKMEM_BIN_BYTES=16KiB\nHAKMEM_DIRTY_SHARE=2\n' >"$scratch/my.profile"
}

# What must be in force under the setting, one gate a line.
write_expected()
{
    echo "$1" | tr ' ' '\n' >"$scratch/expected"
    case $1 in
    HAKMEM_PROFILE=*/*)
        [ -r "${1#*=}" ] || refuse "${1#*=} cannot be read."
        sed -n '/^HAKMEM_/p' "${1#*=}" >>"$scratch/expected"
        ;;
    HAKMEM_PROFILE=*)
        "$build/cli/hakmem" profiles | awk -v profile="${1#*=}" '
            /^[^ ]/ { found = $0 == profile }
            found && /^ *HAKMEM_/ { print $1 }' >>"$scratch/expected"
        ;;
    esac
}

# names STATUS: the tests that CTest's report says ended so.
names()
{
    sed -n "s/.*<testcase name=\"\([^\"]*\)\".* status=\"$1\".*/ \1/p" "$scratch/report.xml" | tr -d '\n'
}

# run_setting SETTING: its line, and what its failed tests said for the end.
run_setting()
{
    setting=$(echo "$1" | sed "s|SCRATCH|$scratch|")
    write_expected "$setting"
    rm -f "$scratch/report.xml"
    started=$(date +%s)
    status=0
    # The setting's words are gates.
    # shellcheck disable=SC2086
    env $setting ctest --test-dir "$scratch" -R "$tests" -j "$(nproc)" --output-on-failure --no-tests=error \
        --output-junit "$scratch/report.xml" </dev/null >"$scratch/said" 2>&1 || status=$?
    failed=$(names fail)
    skipped=$(names notrun)$(names disabled)
    passed=$(names run)
    ran_count=$(echo "$failed$skipped$passed" | wc -w)
    [ "$ran_count" = $test_count ] || failed="$failed ($((test_count - ran_count)) tests are missing)"
    [ $status = 0 ] || [ -n "$failed" ] || failed=" (ctest ended with status $status)"
    printf '%-66s %5d %6d %6d %7d %7d\n' "$1" "$ran_count" "$(echo "$passed" | wc -w)" \
        "$(names fail | wc -w)" "$(echo "$skipped" | wc -w)" $(($(date +%s) - started))
    [ -z "$skipped" ] || echo "  skipped:$skipped"
    if [ -n "$failed" ]; then
        bad=1
        echo "  failed:$failed"
        { echo "== $1"; grep -v -e ' Passed ' -e '^ *Start ' "$scratch/said"; } >>"$scratch/faults"
    fi
}

list_settings
if [ -n "$list_only" ]; then
    cat "$scratch/settings"
    exit 0
fi
list_tests
write_suite
bad=0
printf '%-66s %5s %6s %6s %7s %7s\n' setting tests passed failed skipped seconds
while read -r setting; do
    run_setting "$setting"
done <"$scratch/settings"
[ $bad = 0 ] || cat "$scratch/faults" >&2
exit $bad
