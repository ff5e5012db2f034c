#!/bin/sh
# Installs what is missing, builds for arm64 and runs the unit, conformance and stress tests under qemu:
# sh scripts/test_arm64.sh [--installed].  About half an hour on two cores.
# SPDX-License-Identifier: MIT
#
# The processor is a Cortex-A53, which has armv8.0-a and nothing newer.  The stress tests run once more
# in the 39 bits of address space of a kernel with small page tables.  What is left out, and why:
# scripts/arm64_exclusions.txt.  --installed: installs nothing; exit status 77 when something is missing.
set -eu
usage='usage: test_arm64.sh [--installed]'
cd "$(dirname "$0")/.."
case ${1:-} in
'') sh scripts/setup.sh --for arm64 ;;
--installed) ;;
*)
    echo "$usage" >&2
    exit 2
    ;;
esac
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ aarch64-linux-gnu-objdump qemu-aarch64-static \
    /lib/ld-linux-aarch64.so.1; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing (sh scripts/setup.sh --for arm64)"; exit 77; }
done

mkdir -p out
for step in 'cmake --preset arm64' 'cmake --build --preset arm64'; do
    # The words are a command.
    # shellcheck disable=SC2086
    if ! $step >out/arm64.build.log 2>&1; then
        tail -n 60 out/arm64.build.log
        echo "it doesn't build: $step"
        exit 1
    fi
done
sh scripts/check_baseline.sh out/arm64/libhakmem.so aarch64-linux-gnu-objdump

export QEMU_CPU=cortex-a53
left_out=$(sed -n 's/^\(\^[^ ]*\) .*/\1/p' scripts/arm64_exclusions.txt | paste -s -d '|' -)
status=0
run_tests()
{
    ctest --test-dir out/arm64 -LE '^long$' --no-tests=error --output-on-failure -j "$(nproc)" "$@" || status=1
}
echo '== arm64: unit, conformance and stress tests'
run_tests -L '^(unit|conformance|stress)$' -E "$left_out"
echo '== arm64, 39-bit addresses: stress tests'
export QEMU_RESERVED_VA=0x8000000000
run_tests -R '^stress\.(no_bins|no_dirty_pages|pool|hot|api|api\.routes_change)$'
exit $status
