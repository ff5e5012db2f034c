// From figures to a verdict.
// SPDX-License-Identifier: MIT
#include "abtest/abtest.h"

#include <math.h>

enum {
    CONTROL_SEED_STEP = 1
};

// A control that is clean seems not to be this often.
static const double control_error_rate = 0.01;

static double gain_of(double a, double b, bool lower_is_better)
{
    return (lower_is_better ? a / b : b / a) - 1;
}

static enum abtest_memo judge_by_memo(double mean_gain, double median_gain)
{
    if (mean_gain <= -ABTEST_WORTHWHILE) {
        return ABTEST_MEMO_NO_GO;
    }
    return mean_gain >= ABTEST_WORTHWHILE && median_gain >= 0 ? ABTEST_MEMO_GO
                                                              : ABTEST_MEMO_NEUTRAL;
}

static bool is_below_worthwhile(const struct abtest_interval *interval)
{
    return interval->low > 1 - ABTEST_WORTHWHILE && interval->high < 1 + ABTEST_WORTHWHILE;
}

static enum abtest_evidence judge_by_evidence(const struct abtest_interval *interval)
{
    if (interval->low > 1) {
        return ABTEST_BETTER;
    }
    if (interval->high < 1) {
        return ABTEST_WORSE;
    }
    return is_below_worthwhile(interval) ? ABTEST_ALIKE : ABTEST_NOT_SHOWN;
}

static enum abtest_verdict agree(const struct abtest_result *result)
{
    if (result->memo == ABTEST_MEMO_NEUTRAL && is_below_worthwhile(&result->interval)) {
        return ABTEST_NEUTRAL;
    }
    if (!result->is_control_clean) {
        return ABTEST_UNDECIDED;
    }
    if (result->memo == ABTEST_MEMO_GO && result->evidence == ABTEST_BETTER) {
        return ABTEST_GO;
    }
    if (result->memo == ABTEST_MEMO_NO_GO && result->evidence == ABTEST_WORSE) {
        return ABTEST_NO_GO;
    }
    return ABTEST_UNDECIDED;
}

// The interval narrows with the root of the number of pairs.  If the centre stays where it is, it
// must get as narrow as the centre's distance from what it has to exclude: from 1 where the gain is
// worth a change, else from the bound of what is.
static size_t guess_pairs_needed(const struct abtest_interval *interval, size_t count)
{
    double gain = fabs(log(interval->ratio));
    double bound = log(1 + ABTEST_WORTHWHILE);
    double wanted = gain >= bound ? gain : bound - gain;
    double half_width = log(interval->high / interval->ratio);
    double pairs = (double)count * (half_width / wanted) * (half_width / wanted);
    if (!isfinite(pairs) || pairs > ABTEST_PAIRS_MOST) {
        return count < ABTEST_PAIRS_PROVING ? ABTEST_PAIRS_PROVING : ABTEST_NEVER;
    }
    size_t needed = (size_t)ceil(pairs);
    return needed > count ? needed : count + 1;
}

static void compare_control(const struct abtest_samples *samples,
                            const struct abtest_settings *settings, struct abtest_result *result)
{
    double gains[ABTEST_PAIRS_MOST];
    struct abtest_settings own_settings = *settings;
    own_settings.seed += CONTROL_SEED_STEP;
    abtest_summarize(samples->a_again, samples->count, &result->a_again);
    abtest_gains(samples->a, samples->a_again, samples->count, samples->lower_is_better, gains);
    abtest_interval(gains, samples->count, &own_settings, &result->control);
    result->noise_floor = fmax(result->control.high, 1 / result->control.low) - 1;
    result->is_control_clean = result->control.p > control_error_rate;
}

void abtest_compare(const struct abtest_samples *samples, const struct abtest_settings *settings,
                    struct abtest_result *result)
{
    double gains[ABTEST_PAIRS_MOST];
    abtest_summarize(samples->a, samples->count, &result->a);
    abtest_summarize(samples->b, samples->count, &result->b);
    abtest_gains(samples->a, samples->b, samples->count, samples->lower_is_better, gains);
    abtest_interval(gains, samples->count, settings, &result->interval);
    compare_control(samples, settings, result);
    result->mean_gain = gain_of(result->a.mean, result->b.mean, samples->lower_is_better);
    result->median_gain = gain_of(result->a.median, result->b.median, samples->lower_is_better);
    result->p_signed_rank = abtest_signed_rank(gains, samples->count);
    result->memo = judge_by_memo(result->mean_gain, result->median_gain);
    result->evidence = judge_by_evidence(&result->interval);
    result->verdict = agree(result);
    result->pairs_needed = result->verdict == ABTEST_UNDECIDED
                               ? guess_pairs_needed(&result->interval, samples->count)
                               : samples->count;
}
