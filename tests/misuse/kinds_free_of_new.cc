// hardened: abort "hakmem: free of 0x[0-9a-f]+, a 24-byte block, from operator new"
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <new>

int main()
{
    void *volatile block = ::operator new(24);
    std::free(block);
    return 0;
}
