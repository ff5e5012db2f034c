// Linked with -lhakmem: malloc and the prefixed functions are one heap.
// SPDX-License-Identifier: MIT
#include <hakmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char *name = malloc(32);
    if (name == NULL) {
        return 1;
    }
    (void)strcpy(name, "hakmem");
    if (!hak_owns(name)) {
        (void)fprintf(stderr, "malloc isn't served by hakmem\n");
        return 1;
    }
    printf("%s %s: malloc(32) gave %zu usable bytes\n", name, hak_version(), hak_usable_size(name));
    hak_free(name);  // as good as free(name)
    return 0;
}
