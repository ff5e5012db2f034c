# Lists small faults for C files: one for each line of code that has any, in an order drawn from `seed`.
# SPDX-License-Identifier: MIT
#
# Run by scripts/mutants.sh: awk -v seed=N -f mutants.awk FILE...  A line of output is "KEY", a tab, "FILE:LINE", a
# tab, "OLD => NEW": sorted by KEY, they are in their order.  The text is read as clang-format leaves it: a function's
# braces stand in the first column, an operator between spaces, a statement on lines of its own.

BEGIN {
    # Each is read as it stands: from, then what it becomes.
    pair_count = split("==,!= !=,== <,<= <,>= <=,< <=,> >,>= >,<= >=,> >=,< &&,|| ||,&& +,- -,+ *,/ /,* <<,>> >>,<< &,| |,& " \
        "+=,-= -=,+= |=,&= &=,|=", pairs, " ")
    random_state = seed % 2147483646 + 1
    for (i = 0; i < 10; i++) {
        random_below(1)
    }
}

# Its own generator, so that every awk draws the same.
function random_below(bound) {
    random_state = (random_state * 16807) % 2147483647
    return int(random_state / 2147483647 * bound)
}

# The line with blanks in place of its comment and of what stands in quotes.
function blank(text,    result, quote, i, c) {
    result = ""
    quote = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (quote == "" && substr(text, i, 2) == "//") {
            break
        }
        if (quote != "" && c == "\\") {
            result = result "  "
            i++
        } else if (quote != "") {
            quote = c == quote ? "" : quote
            result = result " "
        } else {
            quote = c == "\"" || c == "'" ? c : ""
            result = result (quote == "" ? c : "_")
        }
    }
    return result " "
}

# A fault: from column `at` on, `width` characters become `text`.
function add(at, width, text) {
    faults[++fault_count] = substr($0, 1, at - 1) text substr($0, at + width)
}

# Wherever `from` stands in the code, it becomes `to`.
function add_each(from, to,    rest, at, gone) {
    gone = 0
    for (rest = code; (at = index(rest, from)) > 0; rest = substr(rest, at + 1)) {
        add(gone + at, length(from), to)
        gone += at
    }
}

function add_numbers(    rest, gone, at, number) {
    gone = 0
    for (rest = code; match(rest, /[0-9]+/); rest = substr(rest, RSTART + RLENGTH)) {
        at = gone + RSTART
        number = substr(rest, RSTART, RLENGTH)
        gone += RSTART + RLENGTH - 1
        if (substr(code, at - 1, 1) ~ /[A-Za-z0-9_.]/ || substr(code, at + length(number), 1) ~ /[A-Za-z0-9_.]/) {
            continue
        }
        add(at, length(number), number + 1)
        if (number > 0) {
            add(at, length(number), number - 1)
        }
    }
}

function add_operators(    whole, i, ends) {
    for (i = 1; i <= pair_count; i++) {
        split(pairs[i], ends, ",")
        add_each(" " ends[1] " ", " " ends[2] " ")
    }
    add_each("++", "--")
    add_each("--", "++")
    add_each("true", "false")
    add_each("false", "true")
    whole = code
    gsub(/!=/, "__", code)
    add_each("(!", "(")
    add_each(" !", " ")
    code = whole
}

# A condition that stands on one line, the other way round.
function add_condition(    at, words) {
    if (match(code, /(if|while) \(.*\) \{ *$/)) {
        at = RSTART + index(substr(code, RSTART), "(") - 1
        words = substr(code, at)
        sub(/ \{ *$/, "", words)
        add(at, length(words), "(!" words ")")
    }
}

# A call, an assignment or a jump that isn't done.
function add_dropped_statement() {
    if (last !~ /[;{}:] *$/ || code !~ /; *$/ || code ~ /^ *(return [^;]|const |static |struct |extern |union |enum |goto )/) {
        return
    }
    if (code ~ /^ *[a-zA-Z_][a-zA-Z0-9_]*\(/ || code ~ /^ *(return|break|continue);/ || code ~ /^ *[^ (]+ [-+|&^*\/]?= / ||
        code ~ /^ *[^ ]+(\+\+|--); *$/) {
        match($0, /^ */)
        faults[++fault_count] = substr($0, 1, RLENGTH) ";"
    }
}

FNR == 1 { in_function = 0; in_macro = 0; last = "" }
/^[{] *$/ { in_function = 1 }
/^}/ { in_function = 0 }
{
    is_macro = in_macro || /^ *#/
    in_macro = is_macro && /\\$/
    code = blank($0)
    fault_count = 0
    if (!is_macro && code !~ /assert|compiler_barrier/) {
        if (in_function) {
            add_operators()
            add_numbers()
            add_condition()
            add_dropped_statement()
        } else if (code ~ /^ +[A-Z][A-Z0-9_]* = / || code ~ /^static const .* = .*;/) {
            add_numbers()
        }
    }
    if (fault_count > 0) {
        old = $0
        changed = faults[1 + random_below(fault_count)]
        sub(/^ */, "", old)
        sub(/^ */, "", changed)
        sub(/ *$/, "", changed)
        key = random_below(2147483647)
        # Races are for TSan and the models: locks are taken as they were, as memory orders are kept.
        if (changed != ";" || old !~ /^lock_take/) {
            printf "%010.0f\t%s:%d\t%s => %s\n", key, FILENAME, FNR, old, changed
        }
    }
    if (code ~ /[^ ]/) {
        last = code
    }
}
