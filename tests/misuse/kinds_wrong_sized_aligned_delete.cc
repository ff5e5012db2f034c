// hardened: abort "hakmem: free with size 128 of 0x[0-9a-f]+, a 64-byte block"
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <new>

int main()
{
    void *volatile block = ::operator new (64, std::align_val_t{64});
    ::operator delete (block, std::size_t{128}, std::align_val_t{64});
    return 0;
}
