// hardened: abort "hakmem: free of 0x[0-9a-f]+, which is not a block"
// An array of objects with destructors begins behind their count.
// SPDX-License-Identifier: MIT
struct counted {
    char *text = nullptr;
    ~counted()
    {
        delete[] text;
    }
};

int main()
{
    counted *volatile block = new counted[16];
    delete block;
    return 0;
}
