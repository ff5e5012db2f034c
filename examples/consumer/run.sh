#!/bin/sh
# Installs hakmem into a temporary folder, moves it, and builds and runs the consumer against it:
# by find_package, by pkg-config, and by pkg-config --static.
# SPDX-License-Identifier: MIT
set -eu
usage='usage: run.sh BUILD_DIR CONSUMER_DIR CMAKE COMPILER'
build=${1:?$usage}
consumer=${2:?$usage}
cmake=${3:?$usage}
compiler=${4:?$usage}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mv "$scratch/first" "$scratch/prefix" # an installed tree can be moved
prefix=$scratch/prefix

for file in bin/hakmem include/hakmem.h share/man/man1/hakmem.1; do
    [ -e "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done

pc=$(find "$prefix" -name hakmem.pc)
libraries=$(dirname "$(dirname "$pc")")
for file in libhakmem.so libhakmem.so.0 libhakmem.a; do
    [ -e "$libraries/$file" ] || { echo "not installed: $file"; exit 1; }
done

"$cmake" -S "$consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$compiler" >"$scratch/configure.log"
"$cmake" --build "$scratch/build" >"$scratch/build.log"
"$scratch/build/consumer_shared"
"$scratch/build/consumer_static"

PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# pkg-config prints words to be split.
# shellcheck disable=SC2046
"$compiler" "$consumer/consumer.c" $(pkg-config --cflags --libs hakmem) -o "$scratch/shared"
LD_LIBRARY_PATH=$libraries "$scratch/shared"
# shellcheck disable=SC2046
"$compiler" -static "$consumer/consumer.c" $(pkg-config --static --cflags --libs hakmem) \
    -o "$scratch/static"
"$scratch/static"

"$prefix/bin/hakmem" version
echo "installed, found and linked"
