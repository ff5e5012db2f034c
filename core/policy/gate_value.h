// The value of one gate, from text and to text.
// Layer: policy.  Needs: gates, gate_text, base.
// SPDX-License-Identifier: MIT
#ifndef HAK_POLICY_GATE_VALUE_H
#define HAK_POLICY_GATE_VALUE_H

#include "base/text.h"
#include "policy/gate_text.h"
#include "policy/gates.h"

// What reading a value came to.
enum gate_verdict {
    GATE_TAKEN,
    GATE_NOT_SUCH_A_VALUE,
    GATE_OUT_OF_RANGE
};

// Sets the gate from `value`, or leaves *values alone and says why.
enum gate_verdict gate_value_set(struct gates *values, enum gate_id id, struct slice value);

// Adds the sentence about a value that was not taken.  `kept`, when not NULL, holds the value that
// stays in force, which is then told too.
void gate_value_explain(struct text *sentence, enum gate_id id, struct slice value,
                        enum gate_verdict verdict, const struct gates *kept);

// Adds at most the first letters of what a user wrote; control characters become '?'.
void gate_value_quote(struct text *text, struct slice written);

#endif
