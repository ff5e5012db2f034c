// When to look at the figures, and in which order to run.
// SPDX-License-Identifier: MIT
#include "abtest/abtest.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static size_t next_look(size_t pairs, size_t most)
{
    size_t next = pairs + (pairs + 1) / 2;
    // A last step that is small against the one before wouldn't be worth a look of its own.
    return next + next / 4 >= most ? most : next;
}

void abtest_plan_looks(size_t first, size_t most, double error_rate, struct abtest_looks *looks)
{
    looks->count = 0;
    size_t spent_pairs = 0;
    for (size_t pairs = first < most ? first : most;; pairs = next_look(pairs, most)) {
        size_t look = looks->count++;
        looks->pairs[look] = pairs;
        looks->error_rates[look] = error_rate * (double)(pairs - spent_pairs) / (double)most;
        spent_pairs = pairs;
        if (pairs == most || looks->count == ABTEST_LOOKS_MOST) {
            return;
        }
    }
}

void abtest_order(uint64_t seed, size_t round_index, size_t *sides, size_t count)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    // Neighbouring seeds of this generator are alike in their first numbers; an odd factor spreads them.
    gsl_rng_set(rng,
                (unsigned long)((seed + round_index / 2 + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 32));
    for (size_t i = 0; i < count; i++) {
        sides[i] = i;
    }
    gsl_ran_shuffle(rng, sides, count, sizeof *sides);
    gsl_rng_free(rng);
    for (size_t i = 0; round_index % 2 == 1 && i < count / 2; i++) {
        size_t side = sides[i];
        sides[i] = sides[count - 1 - i];
        sides[count - 1 - i] = side;
    }
}
