// SPDX-License-Identifier: MIT
#include "abtest/abtest.h"
#include "abtest_check.h"

#include <string.h>

enum {
    RESAMPLES = 1999,
    SEED = 7,
    TEN = 10
};

static const double close = 1e-9;

static const struct abtest_settings usual = {
    .error_rate = ABTEST_ERROR_RATE, .resamples = RESAMPLES, .seed = SEED};

static void a_summary_has_the_sample_deviation(void **state)
{
    (void)state;
    static const double values[] = {9, 4, 2, 4, 5, 4, 7, 5};
    struct abtest_summary summary;
    abtest_summarize(values, 8, &summary);
    assert_int_equal(summary.count, 8);
    assert_near(summary.mean, 5, close);
    assert_near(summary.median, 4.5, close);
    assert_near(summary.sd, sqrt(32.0 / 7), close);
    assert_near(summary.cv, sqrt(32.0 / 7) / 5, close);
    abtest_summarize(values, 1, &summary);
    assert_near(summary.sd, 0, 0);
}

static void a_gain_is_above_zero_where_b_is_better(void **state)
{
    (void)state;
    static const double a[] = {100, 50};
    static const double b[] = {110, 40};
    double gains[2];
    abtest_gains(a, b, 2, false, gains);
    assert_near(gains[0], log(1.1), close);
    assert_near(gains[1], log(0.8), close);
    abtest_gains(a, b, 2, true, gains);
    assert_near(gains[0], -log(1.1), close);
}

// The self-awareness data of R. Wilcox, Introduction to Robust Estimation and Hypothesis Testing: the
// mean is 448, that without the least and the greatest of the 19 is 5826 / 17.
static void the_centre_is_the_trimmed_mean(void **state)
{
    (void)state;
    static const double data[] = {77,  87,  88,  114, 151, 210, 219, 246,  253, 262,
                                  296, 299, 306, 376, 428, 515, 666, 1310, 2611};
    double gains[19];
    struct abtest_interval interval;
    for (size_t i = 0; i < 19; i++) {
        gains[i] = data[18 - i] / 1000;
    }
    abtest_interval(gains, 19, &usual, &interval);
    assert_near(1000 * log(interval.ratio), 5826.0 / 17, close * 1000);
    // Symmetric in the logarithm.
    assert_near(interval.high / interval.ratio, interval.ratio / interval.low, close);
}

// The p and the interval are two ways to say the same.
static void the_interval_excludes_1_exactly_below_its_p(void **state)
{
    (void)state;
    static const double gains[] = {0.02, 0.01, 0.03, -0.01, 0.015, 0.00, 0.04, 0.01, -0.005, 0.02};
    struct abtest_interval interval;
    abtest_interval(gains, TEN, &usual, &interval);
    assert_true(interval.p > 0.001 && interval.p < 0.1);
    struct abtest_settings wider = usual;
    struct abtest_settings stricter = usual;
    wider.error_rate = interval.p * 1.02;
    stricter.error_rate = interval.p * 0.9;
    abtest_interval(gains, TEN, &wider, &interval);
    assert_true(interval.low > 1);
    abtest_interval(gains, TEN, &stricter, &interval);
    assert_true(interval.low <= 1);
}

static void the_same_seed_gives_the_same_interval(void **state)
{
    (void)state;
    static const double gains[] = {0.02, 0.01, 0.03, -0.01, 0.015, 0.00, 0.04};
    struct abtest_interval first;
    struct abtest_interval second;
    struct abtest_settings other_seed = usual;
    other_seed.seed++;
    abtest_interval(gains, 7, &usual, &first);
    abtest_interval(gains, 7, &usual, &second);
    assert_memory_equal(&first, &second, sizeof first);
    abtest_interval(gains, 7, &other_seed, &second);
    assert_true(first.low != second.low);
}

static void too_few_pairs_prove_nothing(void **state)
{
    (void)state;
    static const double gains[] = {0.2, 0.21, 0.22, 0.2, 0.21};
    struct abtest_interval interval;
    abtest_interval(gains, ABTEST_PAIRS_PROVING - 1, &usual, &interval);
    assert_near(interval.low, 0, 0);
    assert_true(isinf(interval.high));
    assert_near(interval.p, 1, 0);
}

// A peak of memory may be the same in every run.
static void figures_without_spread_have_an_interval_of_one_point(void **state)
{
    (void)state;
    double gains[TEN];
    struct abtest_interval interval;
    for (size_t i = 0; i < TEN; i++) {
        gains[i] = log(1.25);
    }
    abtest_interval(gains, TEN, &usual, &interval);
    assert_near(interval.low, 1.25, close);
    assert_near(interval.high, 1.25, close);
    memset(gains, 0, sizeof gains);
    abtest_interval(gains, TEN, &usual, &interval);
    assert_near(interval.ratio, 1, 0);
    assert_near(interval.p, 1, 0);
}

// Ten figures round 100 with a spread of about 1 %, not in step with each other.
static const double flat[TEN] = {100.0, 101.2, 99.1, 100.4, 98.9, 100.9, 99.6, 100.2, 99.3, 100.6};
static const double other[TEN] = {100.3, 99.4, 100.8, 99.0, 100.1, 99.8, 101.0, 99.2, 100.5, 99.9};

static struct abtest_result compare(double b_factor, double control_factor, bool lower_is_better)
{
    double b[TEN];
    double control[TEN];
    struct abtest_result result;
    for (size_t i = 0; i < TEN; i++) {
        b[i] = other[i] * b_factor;
        control[i] = flat[(i + 3) % TEN] * control_factor;
    }
    const struct abtest_samples samples = {
        .a = flat, .b = b, .a_again = control, .count = TEN, .lower_is_better = lower_is_better};
    abtest_compare(&samples, &usual, &result);
    return result;
}

static void go_needs_the_rule_and_the_evidence(void **state)
{
    (void)state;
    struct abtest_result result = compare(1.05, 1, false);
    assert_int_equal(result.memo, ABTEST_MEMO_GO);
    assert_int_equal(result.evidence, ABTEST_BETTER);
    assert_int_equal(result.verdict, ABTEST_GO);
    // The rule alone: +1.1 % in ten noisy runs.
    result = compare(1.012, 1, false);
    assert_int_equal(result.memo, ABTEST_MEMO_GO);
    assert_int_equal(result.evidence, ABTEST_NOT_SHOWN);
    assert_int_equal(result.verdict, ABTEST_UNDECIDED);
    assert_true(result.pairs_needed > TEN && result.pairs_needed < 100);
}

static void what_is_lower_counts_the_other_way_round(void **state)
{
    (void)state;
    struct abtest_result result = compare(1.05, 1, true);
    assert_int_equal(result.memo, ABTEST_MEMO_NO_GO);
    assert_int_equal(result.evidence, ABTEST_WORSE);
    assert_int_equal(result.verdict, ABTEST_NO_GO);
    assert_true(result.interval.ratio < 1);
    assert_true(result.mean_gain < 0);
    result = compare(0.95, 1, true);
    assert_int_equal(result.verdict, ABTEST_GO);
    assert_true(result.mean_gain > 0.04);
}

static void a_control_that_differs_from_itself_withholds_the_verdict(void **state)
{
    (void)state;
    struct abtest_result result = compare(1.05, 1.04, false);
    assert_int_equal(result.memo, ABTEST_MEMO_GO);
    assert_int_equal(result.evidence, ABTEST_BETTER);
    assert_false(result.is_control_clean);
    assert_int_equal(result.verdict, ABTEST_UNDECIDED);
    assert_true(result.noise_floor > 0.04);
}

// The memo's own outcome: mean +0.56 %, median -0.5 %.
static void the_memo_is_neutral_below_its_bound(void **state)
{
    (void)state;
    struct abtest_result result = compare(1.0056, 1, false);
    assert_int_equal(result.memo, ABTEST_MEMO_NEUTRAL);
    assert_true(result.verdict == ABTEST_NEUTRAL || result.verdict == ABTEST_UNDECIDED);
}

// One run far above lifts the mean over the bound, and leaves the median below.
static void a_median_below_zero_is_no_go_ahead(void **state)
{
    (void)state;
    double b[TEN];
    for (size_t i = 0; i < TEN; i++) {
        b[i] = flat[i] * (i == 0 ? 1.2 : 0.995);
    }
    struct abtest_result result;
    const struct abtest_samples samples = {.a = flat, .b = b, .a_again = other, .count = TEN};
    abtest_compare(&samples, &usual, &result);
    assert_true(result.mean_gain > ABTEST_WORTHWHILE);
    assert_true(result.median_gain < 0);
    assert_int_equal(result.memo, ABTEST_MEMO_NEUTRAL);
}

// With little noise, equal sides are found to be alike, and a small gain to be a small one.
static void neutral_needs_an_interval_within_one_percent(void **state)
{
    (void)state;
    static const double factors[] = {1, 1.004};
    static const enum abtest_evidence evidence[] = {ABTEST_ALIKE, ABTEST_BETTER};
    for (size_t i = 0; i < 2; i++) {
        double a[TEN];
        double b[TEN];
        for (size_t run = 0; run < TEN; run++) {
            a[run] = 90 + flat[run] / 10;
            b[run] = (90 + other[run] / 10) * factors[i];
        }
        struct abtest_result result;
        const struct abtest_samples samples = {.a = a, .b = b, .a_again = a, .count = TEN};
        abtest_compare(&samples, &usual, &result);
        assert_int_equal(result.evidence, evidence[i]);
        assert_int_equal(result.verdict, ABTEST_NEUTRAL);
    }
}

static void two_pairs_ask_for_as_many_as_can_prove(void **state)
{
    (void)state;
    struct abtest_result result;
    const struct abtest_samples samples = {.a = flat, .b = other, .a_again = flat + 2, .count = 2};
    abtest_compare(&samples, &usual, &result);
    assert_int_equal(result.verdict, ABTEST_UNDECIDED);
    assert_int_equal(result.pairs_needed, ABTEST_PAIRS_PROVING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_summary_has_the_sample_deviation),
        cmocka_unit_test(a_gain_is_above_zero_where_b_is_better),
        cmocka_unit_test(the_centre_is_the_trimmed_mean),
        cmocka_unit_test(the_interval_excludes_1_exactly_below_its_p),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(too_few_pairs_prove_nothing),
        cmocka_unit_test(figures_without_spread_have_an_interval_of_one_point),
        cmocka_unit_test(go_needs_the_rule_and_the_evidence),
        cmocka_unit_test(what_is_lower_counts_the_other_way_round),
        cmocka_unit_test(a_control_that_differs_from_itself_withholds_the_verdict),
        cmocka_unit_test(the_memo_is_neutral_below_its_bound),
        cmocka_unit_test(a_median_below_zero_is_no_go_ahead),
        cmocka_unit_test(neutral_needs_an_interval_within_one_percent),
        cmocka_unit_test(two_pairs_ask_for_as_many_as_can_prove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
