#!/bin/sh
# Installs what is missing on Debian 12 for one purpose: setup.sh --for quickstart|test|arm64
# SPDX-License-Identifier: MIT
#
# Needs root or sudo only when something is missing.  Without them it says what to install and
# succeeds: whoever called it goes on as far as the machine allows.
set -eu
usage='usage: setup.sh --for quickstart|test|arm64'
[ "${1:-}" = --for ] || { echo "$usage" >&2; exit 2; }
case ${2:-} in
quickstart) purposes='quickstart' ;;
test) purposes='quickstart|test' ;;
arm64) purposes='quickstart|arm64' ;;
*) echo "$usage" >&2; exit 2 ;;
esac

folder=$(dirname "$0")
wanted=$(sed -nE "s/^($purposes) ([a-z0-9.+:-]+)\$/\2/p" "$folder/packages.txt")

if ! command -v dpkg-query >/dev/null; then
    echo "setup: this isn't Debian; install what corresponds to" "$(echo "$wanted" | tr '\n' ' ')" \
        "(going on with what is here)." >&2
    exit 0
fi

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "setup: everything is installed."
    exit 0
fi

if [ "$(id -u)" = 0 ]; then
    root=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    root=sudo
else
    echo "setup: not root and no sudo; ask for 'apt-get install$missing' (going on with what is here)." >&2
    exit 0
fi

# Packages that bring a server must not start it: the tests start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap '$root rm -f $policy' EXIT
    trap 'exit 130' INT TERM
    printf '#!/bin/sh\nexit 101\n' | $root tee $policy >/dev/null
    $root chmod 755 $policy
fi

log=$folder/../out/setup.log
mkdir -p "$folder/../out"
echo "setup: installing$missing"
case $missing in
*:arm64*) $root dpkg --add-architecture arm64 ;;
esac
# The words are package names.
# shellcheck disable=SC2086
if ! {
    $root env LC_ALL=C apt-get -qq update &&
        $root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq -o Dpkg::Use-Pty=0 -y \
            install --no-install-recommends $missing
} >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    echo "setup: apt-get could not install all of$missing (going on with what is here)." >&2
    exit 0
fi
case $missing in
*redis-server* | *nginx* | *postgresql*)
    echo "setup: no server was started; 'systemctl disable NAME' keeps one from starting at the next boot." ;;
esac
