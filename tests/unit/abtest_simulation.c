// How often the A/B says what is true, over simulated experiments on noisy machines.
// SPDX-License-Identifier: MIT
//
// usage: abtest_simulation [all|shared] [EXPERIMENTS] [SEED]
//
// Each experiment draws the figures of its runs in the order in which the command makes them, and is
// judged by the very functions that the command uses.  The exit status is 1 when a bound is missed:
// GO in more than 5 % of the experiments without an effect, with a fixed number of runs or with
// --until-decided, or a true +3 % found in less than 90 % at 20 runs.
#include "abtest/abtest.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDE_COUNT = 3,  // A, B, A again
    RESAMPLES = 999,
    FIRST_LOOK = 10,
    MOST_PAIRS = 100,
    EXPERIMENTS = 2000,
};

static const double most_false_go = 0.05;
static const double least_found = 0.90;

// Everything is in the logarithm of a figure: 0.02 is 2 %.
struct machine {
    const char *name;
    double noise_sd;
    double autocorrelation;   // of the noise, from one run to the next
    double drift;             // at most, from the first run to the last
    double wave;              // height of a slow rise and fall
    double outlier_chance;    // that other work comes up; it stays with chance 1/2
    double outlier_slowdown;  // mean of it
};

static const struct machine machines[] = {
    {"quiet", .noise_sd = 0.02},
    {"drifting", .noise_sd = 0.02, .drift = 0.05, .wave = 0.02},
    {"autocorrelated", .noise_sd = 0.02, .autocorrelation = 0.6},
    {"with outliers", .noise_sd = 0.02, .outlier_chance = 0.015, .outlier_slowdown = 0.08},
    {"shared", .noise_sd = 0.02, .autocorrelation = 0.5, .drift = 0.04, .wave = 0.015,
     .outlier_chance = 0.015, .outlier_slowdown = 0.08},
};

enum {
    MACHINE_COUNT = sizeof machines / sizeof machines[0],
};

struct experiment {
    double figures[SIDE_COUNT][MOST_PAIRS];
};

static void run_experiment(const struct machine *machine, double effect, uint64_t seed,
                           size_t pairs, struct experiment *experiment)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, seed);
    double drift = machine->drift * (2 * gsl_rng_uniform(rng) - 1) / (double)(pairs * SIDE_COUNT);
    double phase = 2 * M_PI * gsl_rng_uniform(rng);
    double period = 20 + 60 * gsl_rng_uniform(rng);
    double fresh_sd =
        machine->noise_sd * sqrt(1 - machine->autocorrelation * machine->autocorrelation);
    double noise = gsl_ran_gaussian_ziggurat(rng, machine->noise_sd);
    bool is_disturbed = false;
    for (size_t run = 0; run < pairs * SIDE_COUNT; run++) {
        size_t order[SIDE_COUNT];
        abtest_order(seed, run / SIDE_COUNT, order, SIDE_COUNT);
        size_t side = order[run % SIDE_COUNT];
        noise = machine->autocorrelation * noise + gsl_ran_gaussian_ziggurat(rng, fresh_sd);
        is_disturbed = gsl_rng_uniform(rng) < (is_disturbed ? 0.5 : machine->outlier_chance);
        double figure = noise + drift * (double)run +
                        machine->wave * sin(phase + 2 * M_PI * (double)run / period) +
                        (side == 1 ? log(1 + effect) : 0);
        if (is_disturbed) {
            figure -= gsl_ran_exponential(rng, machine->outlier_slowdown);
        }
        experiment->figures[side][run / SIDE_COUNT] = exp(figure);
    }
    gsl_rng_free(rng);
}

static void judge(const struct experiment *experiment, size_t pairs, double error_rate,
                  uint64_t seed, struct abtest_result *result)
{
    const struct abtest_samples samples = {.a = experiment->figures[0],
                                           .b = experiment->figures[1],
                                           .a_again = experiment->figures[2],
                                           .count = pairs};
    const struct abtest_settings settings = {
        .error_rate = error_rate, .resamples = RESAMPLES, .seed = seed};
    abtest_compare(&samples, &settings, result);
}

// What came of many experiments, as shares of them.
struct outcome {
    double memo_go;
    double go;
    double no_go;
    double neutral;
    double missed;  // the interval did not hold the true effect
    double pairs;   // mean number of them
};

static void count_outcome(const struct abtest_result *result, double effect, double share,
                          struct outcome *outcome)
{
    double truth = 1 + effect;
    outcome->memo_go += result->memo == ABTEST_MEMO_GO ? share : 0;
    outcome->go += result->verdict == ABTEST_GO ? share : 0;
    outcome->no_go += result->verdict == ABTEST_NO_GO ? share : 0;
    outcome->neutral += result->verdict == ABTEST_NEUTRAL ? share : 0;
    outcome->missed += truth < result->interval.low || truth > result->interval.high ? share : 0;
    outcome->pairs += share * (double)result->a.count;
}

// One number of runs for all experiments, or, with several looks, as --until-decided goes on.
static struct outcome simulate(const struct machine *machine, double effect,
                               const struct abtest_looks *looks, size_t experiment_count,
                               uint64_t seed)
{
    struct outcome outcome = {0};
    for (size_t i = 0; i < experiment_count; i++) {
        static struct experiment experiment;
        struct abtest_result result;
        uint64_t own_seed = seed + i * 1000003;
        run_experiment(machine, effect, own_seed, looks->pairs[looks->count - 1], &experiment);
        for (size_t look = 0; look < looks->count; look++) {
            judge(&experiment, looks->pairs[look], looks->error_rates[look], own_seed, &result);
            if (result.verdict != ABTEST_UNDECIDED) {
                break;
            }
        }
        count_outcome(&result, effect, 1 / (double)experiment_count, &outcome);
    }
    return outcome;
}

static struct outcome report(const struct machine *machine, const char *plan, double effect,
                             const struct abtest_looks *looks, size_t experiment_count,
                             uint64_t seed)
{
    struct outcome outcome = simulate(machine, effect, looks, experiment_count, seed);
    (void)printf("%-14s  %+4.0f %%  %-14s %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f\n", machine->name,
                 100 * effect, plan, 100 * outcome.memo_go, 100 * outcome.go, 100 * outcome.no_go,
                 100 * outcome.neutral, 100 * outcome.missed, outcome.pairs);
    (void)fflush(stdout);
    return outcome;
}

static bool try_machine(const struct machine *machine, size_t experiment_count, uint64_t seed)
{
    static const double effects[] = {0, 0.03};
    struct abtest_looks until_decided;
    abtest_plan_looks(FIRST_LOOK, MOST_PAIRS, ABTEST_ERROR_RATE, &until_decided);
    bool is_good = true;
    for (size_t i = 0; i < 2; i++) {
        double effect = effects[i];
        const struct abtest_looks ten = {
            .count = 1, .pairs = {10}, .error_rates = {ABTEST_ERROR_RATE}};
        const struct abtest_looks twenty = {
            .count = 1, .pairs = {20}, .error_rates = {ABTEST_ERROR_RATE}};
        struct outcome short_run = report(machine, "10 runs", effect, &ten, experiment_count, seed);
        struct outcome long_run =
            report(machine, "20 runs", effect, &twenty, experiment_count, seed);
        struct outcome open_run =
            report(machine, "until decided", effect, &until_decided, experiment_count, seed);
        if (effect == 0) {
            is_good &= short_run.go <= most_false_go && long_run.go <= most_false_go &&
                       open_run.go <= most_false_go;
        } else {
            is_good &= long_run.go >= least_found && open_run.go >= least_found;
        }
    }
    return is_good;
}

int main(int argc, char **argv)
{
    bool wants_all = argc < 2 || strcmp(argv[1], "all") == 0;
    size_t experiment_count = argc > 2 ? strtoul(argv[2], NULL, 10) : EXPERIMENTS;
    uint64_t seed = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    bool is_good = experiment_count > 0;
    (void)printf(
        "%zu experiments a line, 2 %% noise; percent of them, and the mean number of runs\n",
        experiment_count);
    (void)printf("%-14s  %6s  %-14s %8s %8s %8s %8s %8s %8s\n", "machine", "effect", "plan",
                 "memo GO", "GO", "NO-GO", "NEUTRAL", "missed", "runs");
    for (size_t i = wants_all ? 0 : MACHINE_COUNT - 1; i < MACHINE_COUNT; i++) {
        is_good &= try_machine(&machines[i], experiment_count, seed);
    }
    (void)puts(is_good ? "the bounds hold" : "a bound is missed");
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
