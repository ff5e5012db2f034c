#!/bin/sh
# Does the suite find faults?  Puts small ones into core/, one at a time, and runs the tests on each.
# SPDX-License-Identifier: MIT
set -eu

usage()
{
    cat <<'TEXT'
usage: mutants.sh [OPTION...]
Puts small faults into the C files of core/, one at a time: a comparison flipped or off by one, a sum
turned into a difference, && into ||, a condition the other way round, a number one up or down, a statement
dropped. Each is built, and the tests run, quick ones first, until one fails. One line for each fault.

  --count N       so many faults (default 100)
  --seed S        draw others (default 1); the same seed draws the same from the same source
  --file PATTERN  only in files whose paths match, e.g. 'core/thread/*'
  --faults FILE   those in FILE instead: lines of an earlier run, or of --list
  --list          print what would be tried, most of it in reserve, and try nothing
  --quick         only the unit and misuse tests
  --jobs N        build and test so many at once (default 2)
  --minutes M     stop after M minutes
  --resume FILE   add the lines to FILE, and go on where it ends
  --folder DIR    work there and leave it, for the next run to use (default: a scratch folder)
  --project DIR   another source tree than this one

The tree is copied first and never touched. A fault that doesn't compile, that gives the same machine code, or of
which scripts/mutants_equal.txt says why nothing can show it, doesn't count: another is drawn. A test that runs for 30 seconds hangs, and has found the fault. Tests that
fail, or take over ten seconds, without a fault are left out; a test must fail twice. The exit status is 0 nine
tenths or more were killed, 1 fewer were, 2 wrong usage.
TEXT
}

refuse()
{
    echo "mutants.sh: $1" >&2
    exit 2
}

scripts=$(cd "$(dirname "$0")" && pwd)
project=$scripts/..
count=100
seed=1
pattern='*'
faults=
list_only=
jobs=2
minutes=
results=
folder=
# Which tests run after which.
stages='^unit\.[^.]*$ ^(unit\.[^.]*\.|misuse\.)'
slower='^(conformance\.[^.]*|stress\.short)$ ^(conformance\.[^.]*\.|gates\.|cli\.) ^memory\.'
while [ $# -gt 0 ]; do
    case $1 in
    --list) list_only=yes ;;
    --quick) slower= ;;
    --help) usage && exit 0 ;;
    --count | --seed | --file | --faults | --jobs | --minutes | --resume | --folder | --project)
        [ $# -ge 2 ] || refuse "$1 takes a value. See --help."
        case $1 in
        --count) count=$2 ;;
        --seed) seed=$2 ;;
        --file) pattern=$2 ;;
        --faults) faults=$2 ;;
        --jobs) jobs=$2 ;;
        --minutes) minutes=$2 ;;
        --resume) results=$2 ;;
        --folder) folder=$2 ;;
        --project) project=$2 ;;
        esac
        shift
        ;;
    *) refuse "there is no option $1. See --help." ;;
    esac
    shift
done
for number in "$count" "$seed" "$jobs" "${minutes:-1}"; do
    case $number in
    '' | *[!0-9]*) refuse "$number is not a number. See --help." ;;
    esac
done
[ -z "$faults" ] || [ -r "$faults" ] || refuse "$faults cannot be read."
project=$(cd "$project" && pwd)
[ -d "$project/core" ] || refuse "$project has no folder core."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
[ -n "$folder" ] || folder=$scratch/work
results=${results:-$scratch/results}
touch "$results"

# "FILE:LINE", a tab, "OLD => NEW".
list_faults()
{
    if [ -n "$faults" ]; then
        cut -f 1,2 "$faults"
        return
    fi
    (
        cd "$project"
        # The words are paths without spaces.
        # shellcheck disable=SC2046
        awk -v seed="$seed" -f "$scripts/mutants.awk" \
            $(find core -name '*.[ch]' -path "$pattern" | LC_ALL=C sort)
    ) | LC_ALL=C sort | cut -f 2,3
}

list_faults >"$scratch/faults"
[ -s "$scratch/faults" ] || refuse "no line to change was found."
if [ -n "$list_only" ]; then
    cat "$scratch/faults"
    exit 0
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
tree=$folder/tree
build=$folder/build
# Where memory runs out because of a fault, these processes end first.
echo 1000 >/proc/self/oom_score_adj

# What has changed since, or was left with a fault in it, is copied again.
copy_tree()
{
    (cd "$project" && find . \( -path ./out -o -path ./.git \) -prune -o -type f -print) | while read -r path; do
        cmp -s "$project/$path" "$tree/$path" && continue
        mkdir -p "$(dirname "$tree/$path")"
        cp "$project/$path" "$tree/$path"
        # What was known of the tests no longer holds.
        rm -f "$folder"/left_out.*
    done
}

build_tree()
{
    cmake --build "$build" -j "$jobs" "$@" >"$scratch/build.log" 2>&1
}

# The machine code of everything in core/.
save_code()
{
    objcopy --strip-debug --remove-section=.note.gnu.build-id "$build/libhakmem.so" "$1"
}

# run_stage REGEX [OPTION...]: the stage's tests.
run_stage()
{
    regex=$1
    shift
    ctest --test-dir "$build" -j "$jobs" -R "$regex" -LE '^long$' "$@" </dev/null >"$scratch/said" 2>&1
}

is_over()
{
    [ -n "$minutes" ] && [ $(($(date +%s) - started)) -ge $((minutes * 60)) ]
}

# The tests of a stage that tell nothing, as a regular expression, found out once: beside those that fail or are slow,
# the controls on glibc and the statistics, which don't run core/.
find_left_out()
{
    [ ! -e "$folder/left_out.$1" ] || return 0
    echo "mutants.sh: looking at the tests $2 without a fault" >&2
    run_stage "$2" -E '\.glibc$|^unit\.abtest' --output-junit "$scratch/report.xml" || true
    sed -n 's/.*<testcase name="\([^"]*\)".* time="\([0-9]*\)[^"]*" status="\([a-z]*\)".*/\1 \2 \3/p' \
        "$scratch/report.xml" | awk '
        BEGIN { printf "\\.glibc$|^unit\\.abtest" }
        $2 >= 10 || $3 != "run" { printf "|^%s$", $1 }' >"$scratch/left_out"
    mv "$scratch/left_out" "$folder/left_out.$1"
}

start()
{
    copy_tree
    if ! { cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHAK_WERROR=OFF \
        -DCMAKE_LINK_DEPENDS_NO_SHARED=ON >"$scratch/build.log" 2>&1 && build_tree; }; then
        tail -n 30 "$scratch/build.log" >&2
        refuse "without a fault it doesn't build."
    fi
    find "$build" -name CTestTestfile.cmake -exec sed -i 's/TIMEOUT "[0-9]*"/TIMEOUT "30"/' {} +
    save_code "$scratch/sound"
    number=0
    for stage in $stages $slower; do
        number=$((number + 1))
        ! is_over || refuse "the minutes are over before the first fault. The next run in the same --folder goes on."
        find_left_out $number "$stage"
    done
}

# Says which test failed, if one did.
run_tests()
{
    number=0
    for stage in $stages $slower; do
        number=$((number + 1))
        run_stage "$stage" -E "$(cat "$folder/left_out.$number")" --stop-on-failure --repeat until-pass:2 || {
            sed -n 's/^[	 ]*[0-9]* - \([^ ]*\) (\([A-Za-z ]*\)).*/killed by \1 (\2)/p' "$scratch/said" | head -n 1
            return
        }
    done
    echo survived
}

# seed_fault FILE:LINE CHANGE: false where the source isn't what it was.
seed_fault()
{
    file=$tree/${1%:*}
    cp "$file" "$scratch/sound_file"
    change=$2 awk -v number="${1##*:}" '
    BEGIN {
        at = index(ENVIRON["change"], " => ")
        old = substr(ENVIRON["change"], 1, at - 1)
        changed = substr(ENVIRON["change"], at + 4)
    }
    FNR == number {
        match($0, /^ */)
        is_found = substr($0, RLENGTH + 1) == old
        $0 = substr($0, 1, RLENGTH) changed
    }
    { print }
    END { exit !is_found }' "$scratch/sound_file" >"$file"
}

# The verdict on a fault.
try_fault()
{
    if ! seed_fault "$1" "$2"; then
        verdict='the line is another'
    elif ! build_tree --target hakmem_shared; then
        verdict="doesn't compile"
    else
        save_code "$scratch/code"
        if cmp -s "$scratch/sound" "$scratch/code"; then
            verdict='same machine code'
        elif ! build_tree; then
            verdict="doesn't compile"
        else
            verdict=$(run_tests)
            [ -n "$verdict" ] || { cat "$scratch/said" >&2; refuse 'ctest failed, and named no test.'; }
        fi
    fi
    cp "$scratch/sound_file" "$file"
}

# look_up KEY FILE: what stands behind the key and a tab.
look_up()
{
    key=$1$tab awk 'index($0, ENVIRON["key"]) == 1 {
        print substr($0, length(ENVIRON["key"]) + 1)
        exit
    }' "$2"
}

started=$(date +%s)
tried=0
killed=0
equal=0
is_ready=
tab=$(printf '\t')
while IFS=$tab read -r place change; do
    [ $tried -lt "$count" ] || break
    verdict=$(look_up "${place%:*}$tab$change" "$scripts/mutants_equal.txt")
    [ -z "$verdict" ] || verdict="changes nothing: $verdict"
    [ -n "$verdict" ] || verdict=$(look_up "$place$tab$change" "$results")
    if [ -z "$verdict" ]; then
        ! is_over || break
        [ -n "$is_ready" ] || start
        is_ready=yes
        try_fault "$place" "$change"
        printf '%s\t%s\t%s\n' "$place" "$change" "$verdict" | tee -a "$results"
    fi
    case $verdict in
    killed*) tried=$((tried + 1)) killed=$((killed + 1)) ;;
    survived) tried=$((tried + 1)) ;;
    changes*) equal=$((equal + 1)) ;;
    esac
done <"$scratch/faults"
echo "$killed of $tried killed; $equal more are known to change nothing"
[ $tried -gt 0 ] && [ $((killed * 10)) -ge $((tried * 9)) ]
