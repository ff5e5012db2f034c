// Reading of gate values and names from text, without libc's parsers and their locale.
// Layer: policy.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_POLICY_GATE_TEXT_H
#define HAK_POLICY_GATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A part of a longer text, such as the value in NAME=value; no NUL follows it.
struct slice {
    const char *start;
    size_t length;
};

struct slice slice_of(const char *string);

// Cuts the part before `mark` off the front of *rest, the mark with it.  Without a mark the whole
// of it is cut, and *rest is empty.
struct slice slice_cut(struct slice *rest, char mark);

// Without the blanks at both ends.
struct slice slice_trim(struct slice slice);

bool slice_is(struct slice slice, const char *string);
bool slice_is_any_case(struct slice slice, const char *string);

// Each returns false, and leaves the result alone, when the slice is not wholly such a value.
bool slice_read_bool(struct slice slice, bool *result);       // on off 1 0 true false yes no
bool slice_read_count(struct slice slice, uint64_t *result);  // decimal digits
bool slice_read_mask(struct slice slice, uint64_t *result);   // the same, or 0x and more
bool slice_read_size(struct slice slice, uint64_t *result);   // digits and a unit: k KB KiB m ...

// The index of `slice` in "word|word|...", or -1.
int slice_find_word(struct slice slice, const char *words);

// How many letters must be typed differently to make `name` of `typed`, two swapped neighbours
// counted once; case doesn't matter.  SLICE_FAR when a name is too long to tell, or when so much
// differs that it is no typing error.
enum {
    SLICE_FAR = 255
};
unsigned slice_distance(struct slice typed, const char *name);

#endif
