// A program that brings a malloc of its own, for all of its libraries to use.
// SPDX-License-Identifier: MIT
#include <stddef.h>

void *malloc(size_t bytes);
void free(void *block);

static _Alignas(16) char memory[1 << 20];
static size_t used_bytes;

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    void *block = memory + used_bytes;
    used_bytes += (bytes + 15) / 16 * 16;
    return used_bytes <= sizeof memory ? block : NULL;
}

__attribute__((visibility("default"))) void free(void *block)
{
    (void)block;
}

int main(void)
{
    return malloc(1) == NULL;
}
