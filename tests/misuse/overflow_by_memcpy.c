// expect: missed
// 32 bytes too many are copied, into a block that is never freed: only memcpy itself could tell.
// SPDX-License-Identifier: MIT
#include "misuse.h"

int main(void)
{
    static const char text[288];
    memcpy(misuse_malloc(256), text, hidden(sizeof(text)));
    return 0;
}
