// Text in a fixed buffer, made without stdio, locale or allocation.
// Layer: base.  Needs: nothing.
// SPDX-License-Identifier: MIT
//
// Nothing is ever written past the buffer.  What doesn't fit is cut, but still counted: a text
// whose length is not below its capacity was cut, as with snprintf.
#ifndef HAK_BASE_TEXT_H
#define HAK_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

// Invariant: data[0 .. min(length, capacity - 1)) is the text and a NUL follows it, once text_start
// was called and when capacity is above 0.
struct text {
    char *data;
    size_t capacity;  // of data, NUL included; 0 with data NULL only measures
    size_t length;    // what the whole text needs, NUL not counted
};

// An empty text in data[0 .. capacity).
struct text text_start(char *data, size_t capacity);

// Each adds at the end.
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t byte_count);
void text_add_uint(struct text *text, uint64_t number);  // decimal
void text_add_hex(struct text *text, uint64_t number);   // lower case, with 0x

// In the largest of TiB, GiB, MiB and KiB that divides `bytes`, so that nothing is lost: "64KiB",
// "1500".  A gate reads it back to the same number.
void text_add_size(struct text *text, uint64_t bytes);

#endif
