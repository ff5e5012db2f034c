#!/bin/sh
# The man page names every command and option, and each command in its examples works.
# SPDX-License-Identifier: MIT
#
# usage: man_page.sh HAKMEM MAN_PAGE
# shellcheck source=tests/cli/cli_check.sh
. "$(dirname "$0")/cli_check.sh"
page=$2

# The page writes a hyphen that is to be typed as \-.
sed 's/\\-/-/g' "$page" >typed_page
for name in run ab compare bench record replay tune doctor gates profiles version; do
    expect_match typed_page "^\.B[IR]* hakmem $name"
    "$hakmem" $name --help | grep -o -- '--[a-z]*' | grep -v -- '--usage\|--help\|--$' |
        sort -u >options
    while read -r option; do
        expect_match typed_page "$option"
    done <options
done
for variable in $("$hakmem" gates | sed -n 's/^\(HAKMEM_[A-Z0-9_]*\) .*/\1/p') HAKMEM_LIBRARY; do
    expect_match typed_page "^\.B $variable\$"
done

sed -n '/^\.SH EXAMPLES/,/^\.SH /p' typed_page | sed -n '/^\.EX/,/^\.EE/p' | grep '^hakmem ' >examples
[ "$(wc -l <examples)" -ge 5 ] || fault "fewer than five examples"
mkdir bin
ln -s "$hakmem" bin/hakmem
seq 1000 >words.txt
echo 'print(sum(range(1000)))' >job.py
while read -r line; do
    try env PATH="$work/bin:$PATH" sh -c "$line"
    expect_status 0
done <examples
finish
