// hardened: abort "hakmem: free with size 299990 of 0x[0-9a-f]+, a 300000-byte block"
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <new>

int main()
{
    void *volatile block = ::operator new (300000, std::align_val_t{8192});
    ::operator delete (block, std::size_t{299990}, std::align_val_t{8192});
    return 0;
}
