// The statistics of an A/B: from the figures of runs to a verdict.
// Layer: abtest.  Needs: GSL.
// SPDX-License-Identifier: MIT
//
// Pure functions: no clock, no input or output, and every random number comes from a seed that the
// caller gives, so that a verdict can be made again from its figures.  README.md says why each
// method was chosen.
//
// A *pair* is one run of A and one of B in the same round.  Its *gain* is log(B / A), or log(A / B)
// where a lower figure is better: above zero always means that B is better.  Intervals and centres
// are told as ratios, exp(gain): above 1 means that B is better.
#ifndef HAK_ABTEST_H
#define HAK_ABTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ABTEST_PAIRS_LEAST = 2,    // without two there is no spread
    ABTEST_PAIRS_PROVING = 6,  // fewer can't reach 5 %, even if all of them agree
    ABTEST_PAIRS_MOST = 1000,
    ABTEST_RESAMPLES = 9999,  // of the bootstrap, for a verdict that somebody reads
    ABTEST_LOOKS_MOST = 16,
    ABTEST_SIDES_MOST = 64,
    ABTEST_FAMILY_MOST = 256,
    ABTEST_NEVER = 0,  // no number of runs that anybody would wait for settles it
};

#define ABTEST_ERROR_RATE 0.05  // how often two equal sides may be told apart
#define ABTEST_WORTHWHILE 0.01  // the memo's bound: a gain of 1 % is worth a change

// ---- Description ---------------------------------------------------------------------------------

struct abtest_summary {
    size_t count;
    double mean;
    double median;
    double sd;  // with count - 1; 0 for a single value
    double cv;  // sd / mean
};

// Of values[0 .. count), which may be unsorted; count at least 1 and at most ABTEST_PAIRS_MOST.
void abtest_summarize(const double *values, size_t count, struct abtest_summary *summary);

// gains[i] of the pairs a[i], b[i].  All figures must be above zero.
void abtest_gains(const double *a, const double *b, size_t count, bool lower_is_better,
                  double *gains);

// ---- Inference -----------------------------------------------------------------------------------

struct abtest_interval {
    double ratio;       // exp of the 10 % trimmed mean of the gains
    double low;         // 0 and infinity when nothing can be said: too few pairs
    double high;        //
    double error_rate;  // the interval misses the truth this often
    double p;           // the least error rate at which it would exclude 1
};

struct abtest_settings {
    double error_rate;
    size_t resamples;  // at most ABTEST_RESAMPLES
    uint64_t seed;
};

// The bootstrap-t interval, symmetric in the logarithm.
void abtest_interval(const double *gains, size_t count, const struct abtest_settings *settings,
                     struct abtest_interval *interval);

// Two-sided p of Wilcoxon's signed-rank test.  Zeros are dropped and ties share their rank; exact
// (given the ties) up to 50 pairs, above that the normal approximation with the corrections for
// ties and continuity.
double abtest_signed_rank(const double *gains, size_t count);

// Holm's correction of a family of tests.  error_rates[i] is the rate that test i must meet, so that
// the chance of any false finding in the family stays below error_rate: a test is a finding exactly
// when p[i] <= error_rates[i].
void abtest_holm(const double *p, size_t count, double error_rate, double *error_rates);

// ---- Verdict -------------------------------------------------------------------------------------

// The memo's rule, which looks at the averages alone.
enum abtest_memo {
    ABTEST_MEMO_GO,       // mean at least +1 % and median not below
    ABTEST_MEMO_NEUTRAL,  // neither
    ABTEST_MEMO_NO_GO     // mean at most -1 %
};

// What the interval shows.
enum abtest_evidence {
    ABTEST_BETTER,    // it lies above 1
    ABTEST_WORSE,     // it lies below 1
    ABTEST_ALIKE,     // it includes 1, and nothing worth a change
    ABTEST_NOT_SHOWN  // it includes 1, and also what would be worth a change
};

enum abtest_verdict {
    ABTEST_GO,
    ABTEST_NEUTRAL,
    ABTEST_NO_GO,
    ABTEST_UNDECIDED
};

// The figures of one comparison: of round i, a[i], b[i] and the control's a_again[i].
struct abtest_samples {
    const double *a;
    const double *b;
    const double *a_again;  // a second run of A in each round
    size_t count;           // ABTEST_PAIRS_LEAST to ABTEST_PAIRS_MOST
    bool lower_is_better;
};

struct abtest_result {
    struct abtest_summary a;
    struct abtest_summary b;
    struct abtest_summary a_again;
    double mean_gain;    // of B over A, +0.01 for 1 % better, whichever direction is better
    double median_gain;  //
    struct abtest_interval interval;  // of B against A
    struct abtest_interval control;   // of A against itself
    double noise_floor;               // a ratio within 1 +- this is nothing on this machine now
    double p_signed_rank;
    enum abtest_memo memo;
    enum abtest_evidence evidence;
    bool is_control_clean;  // false: A differs from itself, so no difference is believed
    enum abtest_verdict verdict;
    size_t pairs_needed;  // of an undecided one: how many might settle it, or ABTEST_NEVER
};

// All of it.  GO and NO-GO only where the memo's rule and the evidence agree; NEUTRAL where the memo's
// rule says so and the interval rules out a gain or a loss of 1 %.
void abtest_compare(const struct abtest_samples *samples, const struct abtest_settings *settings,
                    struct abtest_result *result);

// ---- Plan ----------------------------------------------------------------------------------------

// When to look, and the error rate of each look.  The rates add up to the whole, so that looking
// often costs no honesty.
struct abtest_looks {
    size_t count;
    size_t pairs[ABTEST_LOOKS_MOST];
    double error_rates[ABTEST_LOOKS_MOST];
};

// From `first` pairs on, each time half as many again, up to `most`.
void abtest_plan_looks(size_t first, size_t most, double error_rate, struct abtest_looks *looks);

// The order of the sides in a round: sides[0 .. count) holds each of 0 .. count - 1 once.  An even
// round has a random order, the odd one after it the same backwards: drift in a straight line cancels
// out, and no rhythm of the machine stays in step with a side.
void abtest_order(uint64_t seed, size_t round_index, size_t *sides, size_t count);

#endif
