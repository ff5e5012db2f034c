// Every operator new with the operator delete that belongs to it, with and without a size.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

namespace
{

const std::align_val_t ALIGN_64{64};

void plain_forms(std::size_t bytes)
{
    ::operator delete(::operator new(bytes));
    ::operator delete(::operator new(bytes), bytes);
    ::operator delete(::operator new(bytes, std::nothrow));
    ::operator delete(::operator new(bytes), std::nothrow);
    ::operator delete[](::operator new[](bytes));
    ::operator delete[](::operator new[](bytes), bytes);
    ::operator delete[](::operator new[](bytes, std::nothrow));
    ::operator delete[](::operator new[](bytes), std::nothrow);
}

void aligned_forms(std::size_t bytes)
{
    ::operator delete(::operator new(bytes, ALIGN_64), ALIGN_64);
    ::operator delete(::operator new(bytes, ALIGN_64), bytes, ALIGN_64);
    ::operator delete(::operator new(bytes, ALIGN_64, std::nothrow), ALIGN_64);
    ::operator delete(::operator new(bytes, ALIGN_64), ALIGN_64, std::nothrow);
    ::operator delete[](::operator new[](bytes, ALIGN_64), ALIGN_64);
    ::operator delete[](::operator new[](bytes, ALIGN_64), bytes, ALIGN_64);
    ::operator delete[](::operator new[](bytes, ALIGN_64, std::nothrow), ALIGN_64);
    ::operator delete[](::operator new[](bytes, ALIGN_64), ALIGN_64, std::nothrow);
}

void malloc_forms(std::size_t bytes)
{
    void *block = nullptr;
    std::free(std::malloc(bytes));
    std::free(std::calloc(bytes, 1));
    std::free(std::realloc(std::malloc(bytes), 2 * bytes + 1));
    std::free(std::aligned_alloc(64, bytes));
    REQUIRE(posix_memalign(&block, 4096, bytes) == 0);
    std::free(std::realloc(block, bytes + 1));
}

// Each delete gives back what its new took: 2000 of any would show.
void nothing_is_lost()
{
    const std::size_t slack_bytes = 1 << 20;
    std::size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 2000; i++) {
        plain_forms(1000);
        aligned_forms(1000);
    }
    EXPECT(mallinfo2().uordblks <= before + slack_bytes);
}

struct with_a_destructor {
    std::string text;
    ~with_a_destructor()
    {
        text.clear();
    }
};

void ordinary_code()
{
    std::map<int, std::vector<std::string>> map;
    for (int i = 0; i < 2000; i++) {
        map[i % 97].push_back(std::string(static_cast<std::size_t>(i % 300), 'x'));
    }
    std::unique_ptr<with_a_destructor[]> many(new with_a_destructor[20]);
    std::shared_ptr<with_a_destructor> one = std::make_shared<with_a_destructor>();
    many[3].text = "hello";
    EXPECT(map.size() == 97 && one->text.empty());
}

}  // namespace

int main()
{
    (void)alarm(60);
    for (std::size_t bytes = 0; bytes < 3000000; bytes += bytes / 7 + 1) {
        plain_forms(bytes);
        aligned_forms(bytes);
        malloc_forms(bytes);
    }
    nothing_is_lost();
    ordinary_code();
    return check_result();
}
