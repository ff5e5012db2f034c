// The least that the loader takes for an audit library, and it allocates: by the libc of its own namespace, long
// before the program's exists.  See audit_test.sh.
// SPDX-License-Identifier: MIT
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

__attribute__((visibility("default"))) unsigned la_version(unsigned version);

__attribute__((visibility("default"))) unsigned la_objopen(struct link_map *map, Lmid_t namespace,
                                                           uintptr_t *cookie);

static void allocate(void)
{
    void *volatile small = malloc(100);
    void *volatile large = malloc(1 << 20);
    free(small);
    free(large);
}

unsigned la_version(unsigned version)
{
    allocate();
    return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    (void)map;
    (void)namespace;
    (void)cookie;
    allocate();
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
