// hardened: abort "hakmem: operator delete of 0x[0-9a-f]+, a 40-byte block, from operator new\[\]"
// SPDX-License-Identifier: MIT
#include <new>

int main()
{
    void *volatile block = ::operator new[](40);
    ::operator delete(block);
    return 0;
}
