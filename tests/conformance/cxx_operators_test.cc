// The C++ operators behave as libstdc++'s: bad_alloc, the new-handler loop, nothrow forms that return
// null whatever the handler throws, sized and aligned forms.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace
{

const size_t IMPOSSIBLE = static_cast<size_t>(1) << 62;
const std::align_val_t ALIGN_64{64};

typedef void *allocate(size_t bytes);

void *plain(size_t bytes)
{
    return ::operator new(hidden(bytes));
}

void *array(size_t bytes)
{
    return ::operator new[](hidden(bytes));
}

void *aligned(size_t bytes)
{
    return ::operator new(hidden(bytes), ALIGN_64);
}

void *aligned_array(size_t bytes)
{
    return ::operator new[](hidden(bytes), ALIGN_64);
}

void *plain_nothrow(size_t bytes)
{
    return ::operator new(hidden(bytes), std::nothrow);
}

void *array_nothrow(size_t bytes)
{
    return ::operator new[](hidden(bytes), std::nothrow);
}

void *aligned_nothrow(size_t bytes)
{
    return ::operator new(hidden(bytes), ALIGN_64, std::nothrow);
}

void *aligned_array_nothrow(size_t bytes)
{
    return ::operator new[](hidden(bytes), ALIGN_64, std::nothrow);
}

allocate *const throwing[] = {plain, array, aligned, aligned_array};
allocate *const nothrow[] = {plain_nothrow, array_nothrow, aligned_nothrow, aligned_array_nothrow};

// By the operator that belongs to the form.
void give(allocate *form, void *block)
{
    if (form == plain || form == plain_nothrow) {
        ::operator delete(block);
    } else if (form == array || form == array_nothrow) {
        ::operator delete[](block);
    } else if (form == aligned || form == aligned_nothrow) {
        ::operator delete(block, ALIGN_64);
    } else {
        ::operator delete[](block, ALIGN_64);
    }
}

struct derived_bad_alloc : std::bad_alloc {
    int mark = 5;
};

int handler_count;
void *ballast;

void give_up_after_three()
{
    handler_count++;
    if (handler_count == 3) {
        std::set_new_handler(nullptr);
    }
}

void throw_derived()
{
    handler_count++;
    throw derived_bad_alloc();
}

void throw_number()
{
    throw 17;
}

void release_ballast()
{
    handler_count++;
    EXPECT(ballast != nullptr);
    std::free(ballast);
    ballast = nullptr;
    std::set_new_handler(nullptr);
}

void blocks_are_blocks(allocate *form)
{
    for (size_t bytes = 0; bytes < 3000000; bytes = bytes * 2 + 1) {
        void *block = form(bytes);
        REQUIRE(block != nullptr);
        EXPECT(is_aligned(block, 16));
        EXPECT(malloc_usable_size(block) >= bytes);
        std::memset(block, 1, bytes);
        give(form, block);
    }
}

void an_impossible_size_throws(allocate *form)
{
    bool is_thrown = false;
    try {
        (void)form(IMPOSSIBLE);
    } catch (const std::bad_alloc &failure) {
        is_thrown = std::strcmp(failure.what(), "std::bad_alloc") == 0;
    }
    EXPECT(is_thrown);
}

void the_handler_is_called_until_it_gives_up(allocate *form)
{
    handler_count = 0;
    std::set_new_handler(give_up_after_three);
    an_impossible_size_throws(form);
    EXPECT(handler_count == 3);
    EXPECT(std::get_new_handler() == nullptr);
}

void what_the_handler_throws_arrives(allocate *form)
{
    int mark = 0;
    handler_count = 0;
    std::set_new_handler(throw_derived);
    try {
        (void)form(IMPOSSIBLE);
    } catch (const derived_bad_alloc &failure) {
        mark = failure.mark;
    }
    EXPECT(mark == 5 && handler_count == 1);
    std::set_new_handler(nullptr);
}

void a_nothrow_form_returns_null(allocate *form)
{
    std::set_new_handler(nullptr);
    EXPECT(form(IMPOSSIBLE) == nullptr);
    handler_count = 0;
    std::set_new_handler(give_up_after_three);
    EXPECT(form(IMPOSSIBLE) == nullptr);
    EXPECT(handler_count == 3);
    handler_count = 0;
    std::set_new_handler(throw_derived);
    EXPECT(form(IMPOSSIBLE) == nullptr);
    EXPECT(handler_count == 1);
    std::set_new_handler(throw_number);
    EXPECT(form(IMPOSSIBLE) == nullptr);
    std::set_new_handler(nullptr);
}

// Under an address-space limit the ballast stands in the way of the block.
void a_handler_that_frees_makes_the_retry_succeed(allocate *form)
{
    const size_t ballast_bytes = 96 << 20;
    if (std::getenv("HAK_TEST_EMULATOR") != nullptr) {
        return;  // qemu keeps no limit of the address space
    }
    struct rlimit limit;
    struct rlimit old_limit;
    (void)getrlimit(RLIMIT_AS, &old_limit);
    ballast = std::malloc(hidden(ballast_bytes));
    REQUIRE(ballast != nullptr);
    limit = old_limit;
    limit.rlim_cur = 200 << 20;
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    handler_count = 0;
    std::set_new_handler(release_ballast);
    void *block = form(ballast_bytes + (40 << 20));
    EXPECT(block != nullptr && handler_count == 1);
    (void)setrlimit(RLIMIT_AS, &old_limit);
    give(form, block);
    std::free(ballast);
    ballast = nullptr;
    std::set_new_handler(nullptr);
}

// Nor does a wrong kind.  A hardened process dies of both.
void a_wrong_size_in_delete_does_no_harm()
{
    std::vector<unsigned char *> held;
    for (size_t i = 0; i < 2000; i++) {
        unsigned char *block = static_cast<unsigned char *>(::operator new(hidden(i % 300 + 8)));
        std::memset(block, static_cast<int>(i % 251), i % 300 + 8);
        held.push_back(block);
    }
    for (size_t i = 0; i < held.size(); i += 2) {
        if (i % 4 == 0) {
            ::operator delete(held[i], hidden(i % 1000));
        } else {
            ::operator delete[](held[i], hidden(i % 1000), std::align_val_t{16});
        }
        held[i] = static_cast<unsigned char *>(::operator new[](hidden(i % 300 + 8)));
        std::memset(held[i], static_cast<int>(i % 251), i % 300 + 8);
    }
    for (size_t i = 0; i < held.size(); i++) {
        EXPECT(held[i][0] == i % 251 && std::memcmp(held[i], held[i] + 1, i % 300 + 7) == 0);
        ::operator delete(held[i], std::nothrow);
    }
}

void every_delete_takes_null()
{
    void *volatile none = nullptr;
    ::operator delete(none);
    ::operator delete[](none);
    ::operator delete(none, hidden(8));
    ::operator delete[](none, hidden(8));
    ::operator delete(none, std::nothrow);
    ::operator delete[](none, std::nothrow);
    ::operator delete(none, ALIGN_64);
    ::operator delete[](none, ALIGN_64);
    ::operator delete(none, hidden(8), ALIGN_64);
    ::operator delete[](none, hidden(8), ALIGN_64);
    ::operator delete(none, ALIGN_64, std::nothrow);
    ::operator delete[](none, ALIGN_64, std::nothrow);
}

void ordinary_code_works()
{
    struct alignas(256) wide {
        char bytes[300];
    };
    wide *one = new wide;
    wide *many = new wide[7];
    EXPECT(is_aligned(one, 256) && is_aligned(many, 256));
    delete one;
    delete[] many;
    std::vector<std::string> words;
    for (int i = 0; i < 5000; i++) {
        words.push_back(std::string(static_cast<size_t>(i % 200), 'x'));
    }
    EXPECT(words[4999].size() == 199);
}

}  // namespace

int main()
{
    (void)alarm(30);
    for (allocate *form : throwing) {
        blocks_are_blocks(form);
        an_impossible_size_throws(form);
        the_handler_is_called_until_it_gives_up(form);
        what_the_handler_throws_arrives(form);
        a_handler_that_frees_makes_the_retry_succeed(form);
    }
    for (allocate *form : nothrow) {
        blocks_are_blocks(form);
        a_nothrow_form_returns_null(form);
        a_handler_that_frees_makes_the_retry_succeed(form);
    }
    if (!check_gate_is("HAKMEM_HARDENED", "on")) {
        a_wrong_size_in_delete_does_no_harm();
    }
    every_delete_takes_null();
    ordinary_code_works();
    return check_result();
}
