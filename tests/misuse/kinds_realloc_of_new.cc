// hardened: abort "hakmem: free of 0x[0-9a-f]+, a 40-byte block, from operator new"
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <new>

int main()
{
    void *volatile block = ::operator new(40);
    block = std::realloc(block, 39);  // where it is: no free of it follows that would tell
    return 0;
}
