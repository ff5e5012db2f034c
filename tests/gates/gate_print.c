// Prints NAME=value of the gates that are named, as they are in force.
// SPDX-License-Identifier: MIT
#include <hakmem.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char value[1024];
        int error = hak_ctl_get(argv[i], value, sizeof value);
        if (error != 0) {
            (void)printf("%s: error %d\n", argv[i], error);
            return EXIT_FAILURE;
        }
        (void)printf("%s=%s\n", argv[i], value);
    }
    return EXIT_SUCCESS;
}
