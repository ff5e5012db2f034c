#!/bin/sh
# Fails when files, functions, conditional compilation or build options outgrow their budgets.
# SPDX-License-Identifier: MIT
#
# Budgets: a file 800 lines, four files in five at most 350; a function 70 lines, nine in ten at most
# 35; no #if inside a function of core/, and 10 per thousand lines outside base/ and os/; eight build
# options.  Exceptions are lines "file LINES path", "function LINES path:name" or "if LINE-COUNT path"
# in scripts/budget_exceptions.txt, which raise one budget to LINES; one that isn't needed fails too.
set -eu
cd "${1:?usage: check_budgets.sh PROJECT_DIR}"
exceptions=scripts/budget_exceptions.txt

files=$(find core include cli abtest bench tests examples scripts \
    \( -name '*.[ch]' -o -name '*.sh' -o -name '*.cc' -o -name '*.cpp' \) 2>/dev/null | sort)
[ -n "$files" ] || { echo "no source file found in $PWD"; exit 1; }

options=$(grep -h '^ *\(option(\|set([A-Z_]* .* CACHE \)' CMakeLists.txt cmake/*.cmake |
    grep -vc 'CMAKE_' || true)

# The words are paths without spaces.
# shellcheck disable=SC2086
awk -v options="$options" '
function allowed(kind, name, budget,    key) {
    key = kind " " name
    if (key in exception) {
        used[key] = 1
        return exception[key]
    }
    return budget
}
function complain(text) { print text; bad = 1 }
function end_of_file() {
    file_count++
    if (lines > 350) {
        long_files++
    }
    if (lines > allowed_file) {
        complain(name ": " lines " lines, at most " allowed_file)
    }
}
FILENAME ~ /budget_exceptions\.txt$/ {
    if ($1 == "file" || $1 == "function" || $1 == "if") {
        exception[$1 " " $3] = $2
    }
    next
}
FNR == 1 {
    if (name != "") {
        end_of_file()
    }
    name = FILENAME
    allowed_file = 800
    if (("file " name) in exception) {
        allowed_file = exception["file " name]
    }
    is_c = name ~ /\.[ch]$/
    in_core = name ~ /^core\//
    in_function = 0
    signature = ""
}
{ lines = FNR; if (FNR > 800) { used["file " name] = 1 } }
!is_c { next }
in_core && name !~ /^core\/(base|os)\// { core_lines++ }
# A function opens with a brace alone in the first column; a struct or a table does not.
/^[a-zA-Z_].*\(/ { signature = $0 }
/^\{ *$/ {
    in_function = 1
    first = FNR
    function_name = signature
    sub(/\(.*/, "", function_name)
    sub(/.*[ *]/, "", function_name)
}
/^ *# *if/ {
    if (in_core && name !~ /^core\/(base|os)\// && $0 !~ /^#ifndef HAK_[A-Z0-9_]*_H *$/ && $0 !~ /__cplusplus/) {
        ifs++
        if (in_function) {
            if_in_function[name]++
            if_place[name] = if_place[name] " " FNR
        }
    }
}
/^\}/ && in_function {
    in_function = 0
    length_now = FNR - first + 1
    function_count++
    if (length_now > 35) {
        long_functions++
    }
    if (length_now > 70) {
        limit = allowed("function", name ":" function_name, 70)
        if (length_now > limit) {
            complain(name ":" first ": " function_name " has " length_now " lines, at most " limit)
        }
    }
}
END {
    end_of_file()
    for (file in if_in_function) {
        if (if_in_function[file] > allowed("if", file, 0)) {
            complain(file ": #if inside a function, at line" if_place[file])
        }
    }
    if (long_files * 5 > file_count) {
        complain(long_files " of " file_count " files are over 350 lines, at most one in five may be")
    }
    if (long_functions * 10 > function_count) {
        complain(long_functions " of " function_count " functions are over 35 lines, at most one in ten may be")
    }
    if (ifs * 1000 > core_lines * 10) {
        complain("core has " ifs " #if in " core_lines " lines outside base and os, at most 10 in a thousand")
    }
    if (options > 8) {
        complain(options " build options, at most 8")
    }
    for (key in exception) {
        if (!(key in used)) {
            complain("scripts/budget_exceptions.txt: \"" key "\" is not needed")
        }
    }
    if (!bad) {
        printf "%d files (%d over 350 lines), %d functions (%d over 35 lines), %d #if in core, %d build options\n",
            file_count, long_files, function_count, long_functions, ifs, options
    }
    exit bad
}' "$exceptions" $files
