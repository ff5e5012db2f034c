// Wilcoxon's signed-rank test.
// SPDX-License-Identifier: MIT
#include "abtest/abtest.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>

enum {
    EXACT_PAIRS_MOST = 50,  // 2^50 sign patterns are counted in doubles without rounding
    EXACT_SUM_MOST = EXACT_PAIRS_MOST * (EXACT_PAIRS_MOST + 1),
};

// The gains that aren't zero, in order of their size.  A rank is kept doubled, so that the mean of
// tied ranks stays whole.
struct signed_ranks {
    size_t count;
    double sizes[ABTEST_PAIRS_MOST];
    bool is_positive[ABTEST_PAIRS_MOST];
    unsigned doubled_ranks[ABTEST_PAIRS_MOST];
    double tie_correction;  // the sum of t^3 - t over groups of t tied ones
    double positive_sum;    // of doubled ranks
};

static void share_ranks(struct signed_ranks *ranks)
{
    for (size_t first = 0, next = 0; first < ranks->count; first = next) {
        for (next = first + 1; next < ranks->count && ranks->sizes[next] == ranks->sizes[first];) {
            next++;
        }
        double tied_count = (double)(next - first);
        ranks->tie_correction += tied_count * tied_count * tied_count - tied_count;
        for (size_t i = first; i < next; i++) {
            ranks->doubled_ranks[i] = (unsigned)(first + 1 + next);
            ranks->positive_sum += ranks->is_positive[i] ? (double)(first + 1 + next) : 0;
        }
    }
}

static void rank_gains(const double *gains, size_t count, struct signed_ranks *ranks)
{
    double sizes[ABTEST_PAIRS_MOST] = {0};
    size_t order[ABTEST_PAIRS_MOST];
    for (size_t i = 0; i < count; i++) {
        sizes[i] = fabs(gains[i]);
    }
    gsl_sort_index(order, sizes, 1, count);
    ranks->count = 0;
    ranks->tie_correction = 0;
    ranks->positive_sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (sizes[order[i]] > 0) {
            ranks->sizes[ranks->count] = sizes[order[i]];
            ranks->is_positive[ranks->count] = gains[order[i]] > 0;
            ranks->count++;
        }
    }
    share_ranks(ranks);
}

// Counts, over all patterns of signs, how often each sum of positive ranks comes out.
static double exact_p(const struct signed_ranks *ranks)
{
    static const double one_pattern = 1;
    double ways[EXACT_SUM_MOST + 1] = {one_pattern};
    size_t whole = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        unsigned step = ranks->doubled_ranks[i];
        whole += step;
        for (size_t sum = whole; sum >= step; sum--) {
            ways[sum] += ways[sum - step];
        }
    }
    double smaller_sum = fmin(ranks->positive_sum, (double)whole - ranks->positive_sum);
    double tail = 0;
    for (size_t sum = 0; (double)sum <= smaller_sum; sum++) {
        tail += ways[sum];
    }
    return fmin(1, 2 * tail / exp2((double)ranks->count));
}

static double normal_p(const struct signed_ranks *ranks)
{
    double n = (double)ranks->count;
    double mean = n * (n + 1) / 4;
    double variance = n * (n + 1) * (2 * n + 1) / 24 - ranks->tie_correction / 48;
    double distance = fabs(ranks->positive_sum / 2 - mean) - 0.5;
    return distance <= 0 ? 1 : fmin(1, 2 * gsl_cdf_ugaussian_Q(distance / sqrt(variance)));
}

double abtest_signed_rank(const double *gains, size_t count)
{
    struct signed_ranks ranks;
    rank_gains(gains, count, &ranks);
    if (ranks.count == 0) {
        return 1;
    }
    return ranks.count <= EXACT_PAIRS_MOST ? exact_p(&ranks) : normal_p(&ranks);
}

void abtest_holm(const double *p, size_t count, double error_rate, double *error_rates)
{
    size_t order[ABTEST_FAMILY_MOST];
    gsl_sort_index(order, p, 1, count);
    // From the first that isn't a finding on, none is: the rate stays where it was.
    double rate = error_rate / (double)count;
    bool is_finding = true;
    for (size_t i = 0; i < count; i++) {
        if (is_finding) {
            rate = error_rate / (double)(count - i);
        }
        error_rates[order[i]] = rate;
        is_finding = is_finding && p[order[i]] <= rate;
    }
}
