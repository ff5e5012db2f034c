// SPDX-License-Identifier: MIT
#include "abtest/abtest.h"
#include "abtest_check.h"

static const double close = 1e-9;

// Hollander and Wolfe, Nonparametric Statistical Methods: depression scores of nine patients before
// and after a therapy.  The sum of positive ranks is 40; the two-sided p is 20 / 512.
static void depression_scores_give_the_textbooks_p(void **state)
{
    (void)state;
    static const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    static const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    double gains[9];
    for (size_t i = 0; i < 9; i++) {
        gains[i] = before[i] - after[i];
    }
    assert_near(abtest_signed_rank(gains, 9), 20.0 / 512, close);
}

// Darwin's maize, crossed against self-fertilised, in eighths of an inch: the sum is 96, p 0.0413.
static void darwins_maize_gives_the_known_p(void **state)
{
    (void)state;
    static const double gains[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
    assert_near(abtest_signed_rank(gains, 15), 0.0413, 0.0001);
}

static void all_on_one_side_is_the_least_that_n_allows(void **state)
{
    (void)state;
    double gains[10];
    for (size_t i = 0; i < 10; i++) {
        gains[i] = -1 - (double)i;
    }
    assert_near(abtest_signed_rank(gains, 5), 2.0 / 32, close);
    assert_near(abtest_signed_rank(gains, 10), 2.0 / 1024, close);
}

// Ranks 2, 2, 2 and 4: of 16 patterns of signs, four have a sum of at most 2.
static void ties_share_their_rank(void **state)
{
    (void)state;
    static const double gains[] = {1, -1, 1, 2};
    assert_near(abtest_signed_rank(gains, 4), 0.5, close);
}

static void zeros_are_left_out(void **state)
{
    (void)state;
    static const double gains[] = {0, 1, 2, 0, 3, 4, 5, 0};
    static const double zeros[] = {0, 0, 0};
    assert_near(abtest_signed_rank(gains, 8), 2.0 / 32, close);
    assert_near(abtest_signed_rank(zeros, 3), 1, 0);
}

// 51 pairs: the sum's mean is 663 and its variance 11381.5.  Ranks 1 to 36 are negative, so the sum of
// the positive ones is 1326 - 666 = 660; or 1 to 42, which leaves 423.
static void above_50_pairs_the_normal_distribution_serves(void **state)
{
    (void)state;
    double gains[51];
    for (size_t i = 0; i < 51; i++) {
        gains[i] = i < 42 ? -1 - (double)i : 1 + (double)i;
    }
    double z = (663 - 423 - 0.5) / sqrt(11381.5);
    assert_near(abtest_signed_rank(gains, 51), erfc(z / sqrt(2)), close);
    for (size_t i = 36; i < 42; i++) {
        gains[i] = -gains[i];
    }
    z = (663 - 660 - 0.5) / sqrt(11381.5);
    assert_near(abtest_signed_rank(gains, 51), erfc(z / sqrt(2)), close);
}

// All 60 tied: the ranks are 30.5 each, so the variance is 60 * 30.5^2 / 4.
static void ties_narrow_the_normal_distribution(void **state)
{
    (void)state;
    double gains[60];
    for (size_t i = 0; i < 60; i++) {
        gains[i] = i < 40 ? 1 : -1;
    }
    double z = (40 * 30.5 - 30 * 30.5 - 0.5) / sqrt(60 * 30.5 * 30.5 / 4);
    assert_near(abtest_signed_rank(gains, 60), erfc(z / sqrt(2)), close);
}

static void exact_and_normal_meet_at_50(void **state)
{
    (void)state;
    double gains[51];
    for (size_t i = 0; i < 51; i++) {
        gains[i] = (i % 3 == 0 ? -1 : 1) * (1 + (double)i);
    }
    double exact = abtest_signed_rank(gains, 50);
    double normal = abtest_signed_rank(gains, 51);
    assert_true(exact > 0.005 && exact < 0.2);
    assert_near(exact, normal, 0.015);
}

static void holm_steps_down_until_the_first_that_fails(void **state)
{
    (void)state;
    static const double p[] = {0.01, 0.04, 0.03, 0.005};
    double rates[4];
    abtest_holm(p, 4, 0.05, rates);
    assert_near(rates[3], 0.05 / 4, close);
    assert_near(rates[0], 0.05 / 3, close);
    assert_near(rates[2], 0.05 / 2, close);  // 0.03 fails here
    assert_near(rates[1], 0.05 / 2, close);  // and so 0.04 isn't tried at 0.05
    abtest_holm(p, 1, 0.05, rates);
    assert_near(rates[0], 0.05, close);
}

static void the_looks_spend_the_error_rate_once(void **state)
{
    (void)state;
    static const size_t mosts[] = {6, 10, 11, 13, 100, 1000};
    for (size_t i = 0; i < sizeof mosts / sizeof mosts[0]; i++) {
        struct abtest_looks looks;
        double spent = 0;
        abtest_plan_looks(10, mosts[i], 0.05, &looks);
        for (size_t look = 0; look < looks.count; look++) {
            assert_true(look == 0 || looks.pairs[look] > looks.pairs[look - 1]);
            assert_true(looks.error_rates[look] > 0);
            spent += looks.error_rates[look];
        }
        assert_int_equal(looks.pairs[looks.count - 1], mosts[i]);
        assert_near(spent, 0.05, close);
    }
}

// Each side stands as often before as behind, by as many places: a straight drift cancels out.
static void two_rounds_put_every_side_at_the_same_mean_place(void **state)
{
    (void)state;
    for (size_t count = 2; count <= 5; count++) {
        for (size_t round = 0; round < 20; round += 2) {
            size_t there[5];
            size_t back[5];
            size_t places[5] = {0};
            abtest_order(3, round, there, count);
            abtest_order(3, round + 1, back, count);
            for (size_t i = 0; i < count; i++) {
                places[there[i]] += i;
                places[back[i]] += i;
            }
            for (size_t side = 0; side < count; side++) {
                assert_int_equal(places[side], count - 1);
            }
        }
    }
}

static void every_order_comes_up_about_equally_often(void **state)
{
    (void)state;
    size_t first[3] = {0};
    for (size_t round = 0; round < 6000; round += 2) {
        size_t sides[3];
        abtest_order(1, round, sides, 3);
        first[sides[0]]++;
    }
    for (size_t side = 0; side < 3; side++) {
        assert_in_range(first[side], 900, 1100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depression_scores_give_the_textbooks_p),
        cmocka_unit_test(darwins_maize_gives_the_known_p),
        cmocka_unit_test(all_on_one_side_is_the_least_that_n_allows),
        cmocka_unit_test(ties_share_their_rank),
        cmocka_unit_test(zeros_are_left_out),
        cmocka_unit_test(above_50_pairs_the_normal_distribution_serves),
        cmocka_unit_test(ties_narrow_the_normal_distribution),
        cmocka_unit_test(exact_and_normal_meet_at_50),
        cmocka_unit_test(holm_steps_down_until_the_first_that_fails),
        cmocka_unit_test(the_looks_spend_the_error_rate_once),
        cmocka_unit_test(two_rounds_put_every_side_at_the_same_mean_place),
        cmocka_unit_test(every_order_comes_up_about_equally_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
