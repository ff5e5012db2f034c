#!/bin/sh
# What the library's ELF headers promise: tiny initial-exec thread-local storage, a SONAME, never
# unloaded, no other library needed than libc, and no name exported beside the documented ones.
# SPDX-License-Identifier: MIT
set -eu
library=${1:?usage: elf_test.sh LIBRARY}
bad=0
complain() {
    echo "$library: $*"
    bad=1
}

for name in __tls_get_addr __emutls_get_address; do
    if readelf -W --dyn-syms "$library" | grep -qw "$name"; then
        complain "refers to $name: dynamic thread-local storage may call malloc"
    fi
done
tls_bytes=$(($(readelf -Wl "$library" | awk '$1 == "TLS" { size = $6 } END { print size ? size : "0x0" }')))
[ "$tls_bytes" -le 64 ] || complain "has $tls_bytes bytes of thread-local storage, more than 64"

dynamic=$(readelf -Wd "$library")
case $dynamic in *libhakmem.so.0*) ;; *) complain "its SONAME is not libhakmem.so.0" ;; esac
case $dynamic in *NODELETE*) ;; *) complain "can be unloaded (no -z nodelete)" ;; esac
case $dynamic in *TEXTREL*) complain "has text relocations" ;; esac
needed=$(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -e '^libc\.so' -e '^ld-linux' || true)
[ -z "$needed" ] || complain "needs more than libc: $needed"
if readelf -Wl "$library" | grep -E 'GNU_STACK.*RWE'; then
    complain "asks for an executable stack"
fi

allowed='^(hak_[a-z_0-9]+|malloc|free|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|valloc|pvalloc|malloc_usable_size|cfree|dlopen|free_sized|free_aligned_sized|mallinfo2?|malloc_trim|mallopt|malloc_stats|malloc_info|__libc_[a-z_0-9]+|__posix_memalign|_Zn[wa][A-Za-z_0-9]*|_Zd[la][A-Za-z_0-9]*|HAKMEM_[A-Z0-9._]+)$'
extra=$(nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' | grep -vE "$allowed" || true)
[ -z "$extra" ] || complain "exports undocumented names: $extra"

[ $bad = 0 ] && echo "$library: $tls_bytes bytes of thread-local storage, all as promised"
exit $bad
