// hardened: abort "hakmem: free with size 24 of 0x[0-9a-f]+, a 40-byte block"
// A derived object deleted as its base, which has no virtual destructor.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <new>

int main()
{
    void *volatile block = ::operator new(40);
    ::operator delete (block, std::size_t{24});
    return 0;
}
