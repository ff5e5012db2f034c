# Builds for arm64 with Debian's cross compiler; tests run under qemu's user-mode emulator.
# SPDX-License-Identifier: MIT
#
# The libraries that the programs run on are those of Debian's arm64 packages, which lie beside the
# machine's own (/lib/ld-linux-aarch64.so.1): the emulator needs no folder of its own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

# The static one: what a test preloads must reach the emulated program and not the emulator.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

# Libraries and headers are arm64's, tools are this machine's.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig)
