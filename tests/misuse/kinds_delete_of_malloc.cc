// hardened: abort "hakmem: operator delete of 0x[0-9a-f]+, a 24-byte block, from malloc"
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <new>

int main()
{
    void *volatile block = std::malloc(24);
    ::operator delete(block);
    return 0;
}
