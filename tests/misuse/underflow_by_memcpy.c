// expect: missed
// The copy begins 32 bytes before a block that is never freed: only memcpy itself could tell.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    static const char text[256];
    unsigned char *block = misuse_malloc(256);
    unsigned char *other = misuse_malloc(256);
    // The lower one may have nothing before it.
    memcpy((block > other ? block : other) - 32, text, hidden(sizeof(text)));
    return 0;
}
