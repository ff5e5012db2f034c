#!/bin/bash
# bash runs a script of functions, arrays, string building, here-documents, pipes and subshells.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/support.sh" || exit 2
program_needs bash bash

prepare() {
    cat >"$work/script.sh" <<'SCRIPT'
set -eu
declare -A count
declare -a words

mix() { seed=$(((seed * 1103515245 + 12345) % 2147483648)); }

seed=7
for ((i = 0; i < 20000; i++)); do
    mix
    word=w$((seed / 65536 % 1777))
    words+=("$word")
    count[$word]=$((${count[$word]:-0} + 1))
done
echo "${#words[@]} words, ${#count[@]} of them distinct"

text=
for word in "${words[@]:0:3000}"; do
    text+="$word,"
done
echo "${#text} characters; upper case ends in ${text:(-12):11}: ${text^^}" | cksum
echo "${text//w1/<one>}" | cksum

fibonacci() {
    if (($1 < 2)); then
        number=$1
        return
    fi
    local first
    fibonacci $(($1 - 1))
    first=$number
    fibonacci $(($1 - 2))
    number=$((number + first))
}
fibonacci 17
echo "fibonacci: $number"

for word in "${!count[@]}"; do
    echo "$word ${count[$word]}"
done | sort -k2,2nr -k1,1 | head -n 10

for i in {1..150}; do
    part=$(mix; echo "$seed")
    total=$((${total:-0} + part % 1000 + $(wc -c <<<"here string $i")))
done
echo "subshells: $total"

while read -r first second rest; do
    [[ $second =~ ^(w[0-9])([0-9]*)$ ]] && echo "${BASH_REMATCH[2]}:${first}:${#rest}"
done < <(printf '%s %s %s and more\n' "${words[@]:0:6000}") | cksum

(for i in {1..40}; do (exec bash -c 'x=("$@"); echo "${#x[@]} ${x[*]: -1}"' bash "${words[@]:0:2000}") & done; wait) | sort -u
mapfile -t lines < <(seq 100000)
echo "${#lines[@]} lines, the last one ${lines[-1]}"
SCRIPT
}

workload() {
    "${under[@]}" bash "$work/script.sh"
}

program_run bash
