// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <string.h>

enum {
    DIGIT_LIMIT = 20
};  // decimal digits of UINT64_MAX

static void add_number(struct text *text, uint64_t number, unsigned base)
{
    char digits[DIGIT_LIMIT];
    size_t start = DIGIT_LIMIT;
    do {
        start--;
        digits[start] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    text_add_bytes(text, digits + start, DIGIT_LIMIT - start);
}

struct text text_start(char *data, size_t capacity)
{
    if (capacity > 0) {
        data[0] = '\0';
    }
    return (struct text){.data = data, .capacity = capacity, .length = 0};
}

void text_add_bytes(struct text *text, const char *bytes, size_t byte_count)
{
    if (text->length + 1 < text->capacity) {
        size_t room_bytes = text->capacity - 1 - text->length;
        size_t copy_bytes = byte_count < room_bytes ? byte_count : room_bytes;
        memcpy(text->data + text->length, bytes, copy_bytes);
        text->data[text->length + copy_bytes] = '\0';
    }
    text->length += byte_count;
}

void text_add(struct text *text, const char *string)
{
    text_add_bytes(text, string, strlen(string));
}

void text_add_uint(struct text *text, uint64_t number)
{
    add_number(text, number, 10);
}

void text_add_hex(struct text *text, uint64_t number)
{
    text_add(text, "0x");
    add_number(text, number, 16);
}

void text_add_size(struct text *text, uint64_t bytes)
{
    static const char units[][4] = {"", "KiB", "MiB", "GiB", "TiB"};
    size_t unit_index = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit_index + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit_index++;
    }
    text_add_uint(text, bytes);
    text_add(text, units[unit_index]);
}
