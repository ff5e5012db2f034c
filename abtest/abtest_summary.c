// SPDX-License-Identifier: MIT
#include "abtest/abtest.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

void abtest_summarize(const double *values, size_t count, struct abtest_summary *summary)
{
    double sorted[ABTEST_PAIRS_MOST];
    memcpy(sorted, values, count * sizeof *values);
    gsl_sort(sorted, 1, count);
    *summary = (struct abtest_summary){
        .count = count,
        .mean = gsl_stats_mean(values, 1, count),
        .median = gsl_stats_median_from_sorted_data(sorted, 1, count),
        .sd = count > 1 ? gsl_stats_sd(values, 1, count) : 0,
    };
    summary->cv = summary->sd / summary->mean;
}

void abtest_gains(const double *a, const double *b, size_t count, bool lower_is_better,
                  double *gains)
{
    for (size_t i = 0; i < count; i++) {
        double gain = log(b[i] / a[i]);
        gains[i] = lower_is_better ? -gain : gain;
    }
}
