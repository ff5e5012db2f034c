// SPDX-License-Identifier: MIT
#include "policy/gate_value.h"

#include "base/bits.h"

#include <string.h>

enum {
    QUOTE_LIMIT = 48,  // letters of a user's text that a sentence repeats
    EXAMPLE_BYTES = 16 << 20,
};

static bool *bool_field(struct gates *values, const struct gate_info *gate)
{
    return (bool *)((char *)values + gate->offset);
}

static uint64_t *number_field(struct gates *values, const struct gate_info *gate)
{
    return (uint64_t *)(void *)((char *)values + gate->offset);
}

static unsigned *choice_field(struct gates *values, const struct gate_info *gate)
{
    return (unsigned *)(void *)((char *)values + gate->offset);
}

static char *text_field(struct gates *values, const struct gate_info *gate)
{
    return (char *)values + gate->offset;
}

static enum gate_verdict set_bool(struct gates *values, const struct gate_info *gate,
                                  struct slice value)
{
    return slice_read_bool(value, bool_field(values, gate)) ? GATE_TAKEN : GATE_NOT_SUCH_A_VALUE;
}

static enum gate_verdict set_count(struct gates *values, const struct gate_info *gate,
                                   struct slice value)
{
    uint64_t number = 0;
    if (!slice_read_count(value, &number)) {
        return GATE_NOT_SUCH_A_VALUE;
    }
    if (number < gate->least || number > gate->most) {
        return GATE_OUT_OF_RANGE;
    }
    *number_field(values, gate) = number;
    return GATE_TAKEN;
}

static enum gate_verdict set_mask(struct gates *values, const struct gate_info *gate,
                                  struct slice value)
{
    uint64_t mask = 0;
    if (!slice_read_mask(value, &mask)) {
        return GATE_NOT_SUCH_A_VALUE;
    }
    if (mask > gate->most) {
        return GATE_OUT_OF_RANGE;
    }
    *number_field(values, gate) = mask;
    return GATE_TAKEN;
}

static enum gate_verdict set_size(struct gates *values, const struct gate_info *gate,
                                  struct slice value)
{
    uint64_t bytes = 0;
    if (gate->most == GATE_AUTO && slice_is_any_case(value, "auto")) {
        *number_field(values, gate) = GATE_AUTO;
        return GATE_TAKEN;
    }
    if (gate->least == 0 && slice_is_any_case(value, "off")) {
        *number_field(values, gate) = 0;
        return GATE_TAKEN;
    }
    if (!slice_read_size(value, &bytes)) {
        return GATE_NOT_SUCH_A_VALUE;
    }
    // A number never stands for "auto".
    if (bytes < gate->least || bytes > gate->most || bytes == GATE_AUTO) {
        return GATE_OUT_OF_RANGE;
    }
    *number_field(values, gate) = bytes;
    return GATE_TAKEN;
}

static enum gate_verdict set_choice(struct gates *values, const struct gate_info *gate,
                                    struct slice value)
{
    int word_index = slice_find_word(value, gate->words);
    if (word_index < 0) {
        return GATE_NOT_SUCH_A_VALUE;
    }
    *choice_field(values, gate) = (unsigned)word_index;
    return GATE_TAKEN;
}

static enum gate_verdict set_text(struct gates *values, const struct gate_info *gate,
                                  struct slice value)
{
    if (value.length >= GATE_TEXT_BYTES) {
        return GATE_OUT_OF_RANGE;
    }
    char *field = text_field(values, gate);
    memcpy(field, value.start, value.length);
    field[value.length] = '\0';
    return GATE_TAKEN;
}

// The profile gate takes the name of a profile, a path, or nothing.
static bool is_profile(struct slice value)
{
    for (size_t i = 0; i < profile_count; i++) {
        if (slice_is(value, profile_table[i].name)) {
            return true;
        }
    }
    return value.length == 0 || memchr(value.start, '/', value.length) != NULL;
}

enum gate_verdict gate_value_set(struct gates *values, enum gate_id id, struct slice value)
{
    const struct gate_info *gate = &gate_table[id];
    if (id == GATE_ID_profile && !is_profile(value)) {
        return GATE_NOT_SUCH_A_VALUE;
    }
    switch (gate->type) {
    case GATE_TYPE_BOOL:
        return set_bool(values, gate, value);
    case GATE_TYPE_COUNT:
        return set_count(values, gate, value);
    case GATE_TYPE_SIZE:
        return set_size(values, gate, value);
    case GATE_TYPE_MASK:
        return set_mask(values, gate, value);
    case GATE_TYPE_CHOICE:
        return set_choice(values, gate, value);
    case GATE_TYPE_TEXT:
        return set_text(values, gate, value);
    }
    return GATE_NOT_SUCH_A_VALUE;
}

static void add_size_value(struct text *text, const struct gate_info *gate, uint64_t bytes)
{
    if (bytes == GATE_AUTO) {
        text_add(text, "auto");
    } else if (bytes == 0 && gate->least == 0) {
        text_add(text, "off");
    } else {
        text_add_size(text, bytes);
    }
}

static void add_mask(struct text *text, uint64_t mask)
{
    static const char digits[] = "0123456789abcdef";
    text_add(text, "0x");
    for (unsigned shift = mask == 0 ? 0 : log2_floor(mask) / 4 * 4 + 4; shift != 0;) {
        shift -= 4;
        text_add_bytes(text, &digits[mask >> shift & 15], 1);
    }
    text_add(text, mask == 0 ? "0" : "");
}

static void add_choice_value(struct text *text, const struct gate_info *gate, unsigned word_index)
{
    struct slice rest = slice_of(gate->words);
    struct slice word = slice_cut(&rest, '|');
    for (unsigned i = 0; i < word_index; i++) {
        word = slice_cut(&rest, '|');
    }
    text_add_bytes(text, word.start, word.length);
}

static void add_value(struct text *text, const struct gates *values, enum gate_id id)
{
    const struct gate_info *gate = &gate_table[id];
    const char *field = (const char *)values + gate->offset;
    switch (gate->type) {
    case GATE_TYPE_BOOL:
        text_add(text, *(const bool *)field ? "on" : "off");
        break;
    case GATE_TYPE_COUNT:
        text_add_uint(text, *(const uint64_t *)(const void *)field);
        break;
    case GATE_TYPE_SIZE:
        add_size_value(text, gate, *(const uint64_t *)(const void *)field);
        break;
    case GATE_TYPE_MASK:
        add_mask(text, *(const uint64_t *)(const void *)field);
        break;
    case GATE_TYPE_CHOICE:
        add_choice_value(text, gate, *(const unsigned *)(const void *)field);
        break;
    case GATE_TYPE_TEXT:
        text_add(text, field);
        break;
    }
}

static void add_size_range(struct text *text, const struct gate_info *gate)
{
    text_add(text, "a size");
    if (gate->least > 0) {
        text_add(text, " from ");
        text_add_size(text, gate->least);
    }
    if (gate->most != GATE_AUTO) {
        text_add(text, gate->least > 0 ? " to " : " up to ");
        text_add_size(text, gate->most);
    }
    text_add(text, gate->least == 0 ? ", or off" : "");
    text_add(text, gate->most == GATE_AUTO ? ", or auto" : "");
}

static void add_range(struct text *text, enum gate_id id)
{
    const struct gate_info *gate = &gate_table[id];
    switch (gate->type) {
    case GATE_TYPE_BOOL:
        text_add(text, "on or off");
        break;
    case GATE_TYPE_COUNT:
        text_add_uint(text, gate->least);
        text_add(text, " to ");
        text_add_uint(text, gate->most);
        break;
    case GATE_TYPE_SIZE:
        add_size_range(text, gate);
        break;
    case GATE_TYPE_MASK:
        text_add(text, "a mask up to ");
        add_mask(text, gate->most);
        break;
    case GATE_TYPE_CHOICE:
        text_add(text, gate->words);
        break;
    case GATE_TYPE_TEXT:
        text_add(text, id == GATE_ID_profile ? "the name of a profile, or a path with a / in it"
                                             : "text of up to ");
        if (id != GATE_ID_profile) {
            text_add_uint(text, GATE_TEXT_BYTES - 1);
            text_add(text, " bytes");
        }
        break;
    }
}

void gate_value_quote(struct text *text, struct slice written)
{
    for (size_t i = 0; i < written.length && i < QUOTE_LIMIT; i++) {
        char letter = written.start[i];
        bool is_control = (unsigned char)letter < ' ' || letter == 127;
        text_add_bytes(text, is_control ? "?" : &letter, 1);
    }
    text_add(text, written.length > QUOTE_LIMIT ? "..." : "");
}

static void add_complaint(struct text *sentence, enum gate_id id, enum gate_verdict verdict)
{
    static const char *const complaints[] = {
        [GATE_TYPE_BOOL] = " is neither on nor off",
        [GATE_TYPE_COUNT] = " is not a whole number",
        [GATE_TYPE_SIZE] = " is not a size",
        [GATE_TYPE_MASK] = " is not a mask",
        [GATE_TYPE_CHOICE] = " is not one of its words",
        [GATE_TYPE_TEXT] = " is not a profile",
    };
    enum gate_type type = gate_table[id].type;
    if (verdict == GATE_NOT_SUCH_A_VALUE) {
        text_add(sentence, complaints[type]);
    } else {
        text_add(sentence, type == GATE_TYPE_TEXT ? " is too long" : " is out of range");
    }
}

static void add_kept(struct text *sentence, enum gate_id id, const struct gates *kept)
{
    char value[GATE_TEXT_BYTES];
    size_t length = gate_format(kept, id, value, sizeof value);
    text_add(sentence, length > 0 ? "; using " : "; ignored");
    gate_value_quote(sentence, slice_of(value));
}

static void add_nearest_profile(struct text *sentence, struct slice value)
{
    const struct profile *nearest = NULL;
    unsigned least_distance = SLICE_FAR;
    for (size_t i = 0; i < profile_count; i++) {
        unsigned distance = slice_distance(value, profile_table[i].name);
        if (distance < least_distance) {
            least_distance = distance;
            nearest = &profile_table[i];
        }
    }
    if (nearest != NULL) {
        text_add(sentence, " Did you mean ");
        text_add(sentence, nearest->name);
        text_add(sentence, "?");
    }
    text_add(sentence, " `hakmem profiles` lists them.");
}

void gate_value_explain(struct text *sentence, enum gate_id id, struct slice value,
                        enum gate_verdict verdict, const struct gates *kept)
{
    const struct gate_info *gate = &gate_table[id];
    text_add(sentence, gate->env);
    text_add(sentence, "=");
    gate_value_quote(sentence, value);
    add_complaint(sentence, id, verdict);
    if (kept != NULL) {
        add_kept(sentence, id, kept);
    }
    text_add(sentence, ".");
    if (id == GATE_ID_profile) {
        add_nearest_profile(sentence, value);
        return;
    }
    text_add(sentence, " Give ");
    add_range(sentence, id);
    if (gate->type == GATE_TYPE_SIZE && verdict == GATE_NOT_SUCH_A_VALUE) {
        text_add(sentence, "; a size is bytes with a unit, e.g. ");
        text_add_size(sentence, gate->most < EXAMPLE_BYTES ? gate->most : EXAMPLE_BYTES);
    }
    text_add(sentence, ".");
}

bool gate_set(struct gates *values, enum gate_id id, const char *text, char *sentence)
{
    enum gate_verdict verdict = gate_value_set(values, id, slice_of(text));
    if (verdict == GATE_TAKEN) {
        return true;
    }
    if (sentence != NULL) {
        struct text out = text_start(sentence, GATE_SENTENCE_BYTES);
        gate_value_explain(&out, id, slice_of(text), verdict, NULL);
    }
    return false;
}

size_t gate_format(const struct gates *values, enum gate_id id, char *value, size_t bytes)
{
    struct text text = text_start(value, bytes);
    add_value(&text, values, id);
    return text.length;
}

size_t gate_format_range(enum gate_id id, char *range, size_t bytes)
{
    struct text text = text_start(range, bytes);
    add_range(&text, id);
    return text.length;
}
