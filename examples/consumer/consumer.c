// Says which version serves malloc; fails when it isn't hakmem or isn't the version of the header.
// SPDX-License-Identifier: MIT
#include <hakmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    void *block = calloc(1, 1000);
    bool good = hak_owns(block) && strcmp(hak_version(), HAK_VERSION) == 0;
    printf("%s %s\n", good ? "served by hakmem" : "not served by hakmem", hak_version());
    free(block);
    return good ? 0 : 1;
}
