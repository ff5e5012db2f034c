// Linked with libhakmem.a: what libc itself allocates is served by hakmem too.
// SPDX-License-Identifier: MIT
#include <hakmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *ours = calloc(1, 100);
    char *from_libc = strdup("allocated inside libc");
    bool served = hak_owns(ours) && hak_owns(from_libc);
    if (served) {
        printf("hakmem %s serves this program and its libc\n", hak_version());
    } else {
        (void)fprintf(stderr, "malloc isn't served by hakmem\n");
    }
    free(ours);
    free(from_libc);
    return served ? 0 : 1;
}
