// A program at a fixed address that takes malloc's address: the linker lends it a stub of its own.
// SPDX-License-Identifier: MIT
#include <stdlib.h>

int main(void)
{
    void *(*allocate)(size_t) = malloc;
    __asm__("" : "+r"(allocate));  // its address is needed
    void *block = allocate(100);
    free(block);
    return block != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
