// SPDX-License-Identifier: MIT
#include "policy/gate_text.h"

#include <string.h>

enum {
    NAME_LIMIT = 63
};  // longest name that slice_distance looks at

static char to_lower(char letter)
{
    if (letter >= 'A' && letter <= 'Z') {
        return (char)(letter + ('a' - 'A'));
    }
    return letter;
}

static unsigned smaller(unsigned left, unsigned right)
{
    return left < right ? left : right;
}

struct slice slice_of(const char *string)
{
    return (struct slice){.start = string, .length = strlen(string)};
}

struct slice slice_cut(struct slice *rest, char mark)
{
    struct slice part = {.start = rest->start, .length = 0};
    while (part.length < rest->length && part.start[part.length] != mark) {
        part.length++;
    }
    size_t taken = part.length < rest->length ? part.length + 1 : part.length;
    rest->start += taken;
    rest->length -= taken;
    return part;
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

struct slice slice_trim(struct slice slice)
{
    while (slice.length > 0 && is_blank(slice.start[0])) {
        slice.start++;
        slice.length--;
    }
    while (slice.length > 0 && is_blank(slice.start[slice.length - 1])) {
        slice.length--;
    }
    return slice;
}

bool slice_is(struct slice slice, const char *string)
{
    return strlen(string) == slice.length && memcmp(slice.start, string, slice.length) == 0;
}

bool slice_is_any_case(struct slice slice, const char *string)
{
    if (strlen(string) != slice.length) {
        return false;
    }
    for (size_t i = 0; i < slice.length; i++) {
        if (to_lower(slice.start[i]) != to_lower(string[i])) {
            return false;
        }
    }
    return true;
}

bool slice_read_bool(struct slice slice, bool *result)
{
    static const char *const words[] = {"off", "on", "0", "1", "false", "true", "no", "yes"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (slice_is_any_case(slice, words[i])) {
            *result = (i % 2) == 1;
            return true;
        }
    }
    return false;
}

// What a letter stands for as a digit, or a number that is no digit of any base.
static unsigned digit_of(char letter)
{
    letter = to_lower(letter);
    if (letter >= '0' && letter <= '9') {
        return (unsigned)(letter - '0');
    }
    return letter >= 'a' && letter <= 'f' ? 10u + (unsigned)(letter - 'a') : UINT8_MAX;
}

static bool read_digits(struct slice slice, unsigned base, uint64_t *result)
{
    uint64_t number = 0;
    for (size_t i = 0; i < slice.length; i++) {
        unsigned digit = digit_of(slice.start[i]);
        if (digit >= base || __builtin_mul_overflow(number, base, &number) ||
            __builtin_add_overflow(number, digit, &number)) {
            return false;
        }
    }
    if (slice.length == 0) {
        return false;
    }
    *result = number;
    return true;
}

bool slice_read_count(struct slice slice, uint64_t *result)
{
    return read_digits(slice, 10, result);
}

bool slice_read_mask(struct slice slice, uint64_t *result)
{
    if (slice.length < 2 || slice.start[0] != '0' || to_lower(slice.start[1]) != 'x') {
        return slice_read_count(slice, result);
    }
    slice = (struct slice){.start = slice.start + 2, .length = slice.length - 2};
    return read_digits(slice, 16, result);
}

// The power of two that a unit stands for, or -1.
static int find_unit_shift(struct slice unit)
{
    static const char letters[] = "kmgt";
    if (unit.length == 0 || slice_is_any_case(unit, "b")) {
        return 0;
    }
    const char *letter = memchr(letters, to_lower(unit.start[0]), sizeof letters - 1);
    struct slice tail = {.start = unit.start + 1, .length = unit.length - 1};
    bool is_known_tail =
        tail.length == 0 || slice_is_any_case(tail, "b") || slice_is_any_case(tail, "ib");
    return (letter != NULL && is_known_tail) ? 10 * (int)(letter - letters + 1) : -1;
}

bool slice_read_size(struct slice slice, uint64_t *result)
{
    struct slice digits = {.start = slice.start, .length = 0};
    while (digits.length < slice.length && slice.start[digits.length] >= '0' &&
           slice.start[digits.length] <= '9') {
        digits.length++;
    }
    struct slice unit = {.start = slice.start + digits.length,
                         .length = slice.length - digits.length};
    int shift = find_unit_shift(unit);
    uint64_t number = 0;
    if (shift < 0 || !slice_read_count(digits, &number) || number > (UINT64_MAX >> shift)) {
        return false;
    }
    *result = number << shift;
    return true;
}

int slice_find_word(struct slice slice, const char *words)
{
    struct slice rest = slice_of(words);
    for (int index = 0; rest.length > 0; index++) {
        struct slice word = slice_cut(&rest, '|');
        if (word.length == slice.length && memcmp(word.start, slice.start, word.length) == 0) {
            return index;
        }
    }
    return -1;
}

// Fills one row of the table of distances: row[j] is that of typed[0 .. i] and name[0 .. j).
// `above` is the row before it and `two_above` the one before that.
static void fill_distance_row(uint8_t *row, const uint8_t *above, const uint8_t *two_above,
                              const char *typed, const char *name)
{
    size_t name_length = strlen(name);
    row[0] = (uint8_t)(above[0] + 1);
    for (size_t j = 1; j <= name_length; j++) {
        char letter = to_lower(name[j - 1]);
        unsigned cost = to_lower(typed[0]) == letter ? 0 : 1;
        unsigned best = smaller(smaller(above[j] + 1u, row[j - 1] + 1u), above[j - 1] + cost);
        bool is_swapped = two_above != NULL && j > 1 && to_lower(typed[-1]) == letter &&
                          to_lower(typed[0]) == to_lower(name[j - 2]);
        row[j] = (uint8_t)(is_swapped ? smaller(best, two_above[j - 2] + 1u) : best);
    }
}

unsigned slice_distance(struct slice typed, const char *name)
{
    size_t name_length = strlen(name);
    if (typed.length > NAME_LIMIT || name_length > NAME_LIMIT) {
        return SLICE_FAR;
    }
    uint8_t rows[3][NAME_LIMIT + 1] = {{0}};
    for (size_t j = 0; j <= name_length; j++) {
        rows[0][j] = (uint8_t)j;
    }
    for (size_t i = 1; i <= typed.length; i++) {
        fill_distance_row(rows[i % 3], rows[(i - 1) % 3], i > 1 ? rows[(i - 2) % 3] : NULL,
                          typed.start + i - 1, name);
    }
    unsigned distance = rows[typed.length % 3][name_length];
    return distance <= 1 + name_length / 4 ? distance : SLICE_FAR;
}
