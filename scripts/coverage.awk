# Reports what scripts/coverage.sh counted: coverage.awk REASONS LINES SOURCE...
# SPDX-License-Identifier: MIT
#
# A reason is "FILE FUNCTION WHY": it stands for the lines of the function that no test reaches.  With
# "FUNCTION:TEXT", TEXT without blanks, only for lines that hold TEXT and those after it up to the next closing brace.
# A "*" is any file or any function.

function finish_file() {
    if (file != "") {
        printf "%5.1f %% of %4d lines  %s\n", 100 * reached / total, total, file
        all_total += total
        all_reached += reached
    }
}

# The reason that stands for this line, or "".
function reason_for(text,    i, is_text) {
    for (i = 1; i <= reason_count; i++) {
        if ((reason_file[i] != file && reason_file[i] != "*") ||
            (reason_function[i] != in_function && reason_function[i] != "*")) {
            continue
        }
        gsub(/ /, "", text)
        is_text = reason_text[i] != "" && index(text, reason_text[i]) > 0
        if (is_text) {
            open_until_brace[i] = 1
        }
        if (reason_text[i] == "" || open_until_brace[i]) {
            return i
        }
    }
    return 0
}

FILENAME ~ /coverage_reasons\.txt$/ {
    if ($0 !~ /^(#|$)/) {
        reason_file[++reason_count] = $1
        split($2, parts, ":")
        reason_function[reason_count] = parts[1]
        reason_text[reason_count] = substr($2, length(parts[1]) + 2)
        reason_name[reason_count] = $1 " " $2
    }
    next
}
FILENAME ~ /\/lines$/ { hits[$1, $2] = $3; next }

FNR == 1 {
    finish_file()
    file = FILENAME
    total = 0
    reached = 0
    in_function = ""
}
/^[a-zA-Z_].*\(/ {
    in_function = $0
    gsub(/__attribute__\(\([^)]*\)\) */, "", in_function)
    sub(/\(.*/, "", in_function)
    sub(/.*[ *]/, "", in_function)
}
{
    is_code = (file, FNR) in hits
    if (is_code) {
        total++
        reached += hits[file, FNR] > 0
    }
    found = reason_for($0)
    if (is_code && hits[file, FNR] == 0) {
        if (found) {
            used[found] = 1
            excused++
        } else {
            missed = missed sprintf("%s:%d: %s\n", file, FNR, $0)
            missed_count++
        }
    }
}
/^ *}/ {
    for (i in open_until_brace) {
        delete open_until_brace[i]
    }
}
/^}/ { in_function = "" }

END {
    finish_file()
    printf "%5.1f %% of %d lines; %d lines have a reason, %d have none\n", 100 * all_reached / all_total, all_total,
        excused, missed_count
    printf "%s", missed
    for (i = 1; i <= reason_count; i++) {
        if (!(i in used)) {
            print "reached this time: " reason_name[i]
        }
    }
    exit missed_count > 0
}
