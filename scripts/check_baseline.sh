#!/bin/sh
# Fails when a library holds an instruction that the oldest processors of its kind lack: x86-64 without
# extensions, or arm64's v8.0.  The helpers __aarch64_* of the compiler look at the processor first.
# SPDX-License-Identifier: MIT
set -eu
usage='usage: check_baseline.sh LIBRARY [OBJDUMP]'
library=${1:?$usage}
objdump=${2:-objdump}

# Each pattern is matched with a whole mnemonic.  tzcnt isn't in it: older processors run it as bsf,
# and gcc uses it where both give the same.
case $(readelf -h "$library" | sed -n 's/^ *Machine: *//p') in
*X86-64*)
    baseline=x86-64
    sse3='addsub.*|h(add|sub)p[sd]|mov(d|sh|sl)dup|lddqu|fisttp.*|palignr|pshufb|pabs.|ph(add|sub).*|pmaddubsw|pmulhrsw|psign.'
    sse4='p?blend.*|dpp[sd]|(ex|in)tractps|insertps|mpsadbw|packusdw|pcmp(eqq|gtq|[ei]str.)|p(extr|insr)[bdq]|pm(ax|in)(s[bd]|u[wd])|pmov[sz]x.*|pmul(dq|ld)|ptest|round[ps][sd]|movntdqa|crc32.?|popcnt.?'
    bits='lzcnt.?|andn|bextr|bls(i|r|msk)|bzhi|mulx|pdep|pext|rorx|s(a|h)[lr]x|ad[co]x|movbe.?'
    others='v[a-z0-9]+|k(mov|ortest|and|or|xor).|aes.*|pclmul.*|sha(1|256).*|cmpxchg16b|rdtscp|rd(rand|seed|pid).?|(rd|wr)[fg]sbase.?|prefetchw.*|cl(flushopt|wb)|xsave.*|xrstor.*|xgetbv|xbegin|u?mwaitx?|tpause'
    newer="$sse3|$sse4|$bits|$others"
    ;;
*AArch64*)
    baseline=armv8.0-a
    lse='casp?a?l?[bh]?|swpa?l?[bh]?|(ld|st)(add|clr|eor|set|[su]max|[su]min)a?l?[bh]?'
    newer="$lse|ldapu?rs?[bhw]?|stlur[bh]?|sqrdml[as]h|[su]dot|fmla?l2?|fc(mla|add)|fjcvtzs|crc32.*|aes.*|sha(1|256|512).*|pmull2?|pac[di][ab]z?a?|aut[di][ab]z?a?|retaa|retab|bl?ra[ab]z?|(ptrue|whilel[eost]|ld1[bhwd]|st1[bhwd]|cnt[bhwd])"
    ;;
*)
    echo "no baseline is known for this machine"
    exit 77
    ;;
esac

"$objdump" -d --no-show-raw-insn "$library" | awk -F '\t' -v newer="^($newer)\$" -v baseline=$baseline '
/^[0-9a-f]+ </ { place = $0; sub(/^[^<]*</, "", place); sub(/>:$/, "", place) }
/^ +[0-9a-f]+:\t/ {
    count++
    split($2, word, " ")
    name = word[1]
    for (i = 1; name ~ /^(lock|rep|repz|repnz|notrack|bnd|data16)$/ && word[i + 1] != ""; i++) {
        name = word[i + 1]
    }
    if (name ~ newer && place !~ /^__aarch64_/) {
        printf "%s: %s is above %s\n", place, $2 " " $3, baseline
        bad = 1
    }
}
END {
    if (count == 0) { print "no instruction was found"; exit 1 }
    if (!bad) { printf "%d instructions, none above %s\n", count, baseline }
    exit bad
}'
