// An ordinary program that knows nothing of hakmem when it is built: it asks at run time who serves it.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef bool owns_function(const void *address);

int main(void)
{
    owns_function *owns = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "hak_owns");
    memcpy(&owns, &symbol, sizeof(owns));  // ISO C has no cast from an object to a function pointer

    char *text = strdup("served by");
    if (text == NULL) {
        return 1;
    }
    printf("%s %s\n", text, (owns != NULL && owns(text)) ? "hakmem" : "another allocator");
    free(text);
    return 0;
}
