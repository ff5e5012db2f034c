// The words of verdicts.
// SPDX-License-Identifier: MIT
#include "ab_report.h"
#include "shell_words.h"

#include <math.h>
#include <string.h>

const char *ab_words_memo(enum abtest_memo memo)
{
    static const char *const words[] = {
        [ABTEST_MEMO_GO] = "GO", [ABTEST_MEMO_NEUTRAL] = "NEUTRAL", [ABTEST_MEMO_NO_GO] = "NO-GO"};
    return words[memo];
}

const char *ab_words_evidence(enum abtest_evidence evidence)
{
    static const char *const words[] = {[ABTEST_BETTER] = "better",
                                        [ABTEST_WORSE] = "worse",
                                        [ABTEST_ALIKE] = "alike",
                                        [ABTEST_NOT_SHOWN] = "no difference shown"};
    return words[evidence];
}

const char *ab_words_verdict(enum abtest_verdict verdict)
{
    static const char *const words[] = {[ABTEST_GO] = "GO",
                                        [ABTEST_NEUTRAL] = "NEUTRAL",
                                        [ABTEST_NO_GO] = "NO-GO",
                                        [ABTEST_UNDECIDED] = "UNDECIDED"};
    return words[verdict];
}

const char *ab_words_level(double error_rate, char text[AB_LEVEL_BYTES])
{
    (void)snprintf(text, AB_LEVEL_BYTES, "%.4g %%", 100 * (1 - error_rate));
    return text;
}

int ab_words_find(const struct ab_comparison *comparison, char text[AB_SENTENCE_BYTES])
{
    char level[AB_LEVEL_BYTES];
    const struct abtest_result *result = &comparison->result;
    const struct abtest_interval *interval = &result->interval;
    if (!isfinite(interval->high)) {
        return snprintf(text, AB_SENTENCE_BYTES,
                        "%zu rounds are too few for an interval: at least %d can prove something",
                        result->a.count, ABTEST_PAIRS_PROVING);
    }
    return snprintf(text, AB_SENTENCE_BYTES, "B/A = %.4f, %s interval %.4f to %.4f (%zu pairs)",
                    interval->ratio, ab_words_level(interval->error_rate, level), interval->low,
                    interval->high, result->a.count);
}

static const char *find_reason(const struct abtest_result *result)
{
    if (!result->is_control_clean) {
        return "A differs from itself here, so no difference is believed: look what else runs on "
               "this machine. ";
    }
    if (result->evidence == ABTEST_NOT_SHOWN) {
        return "No difference shown. ";
    }
    if (result->evidence == ABTEST_ALIKE) {
        return "No difference shown by the interval, while the averages say otherwise. ";
    }
    return "The interval shows a difference; whether it is worth 1 % is open. ";
}

void ab_words_conclude(const struct ab_comparison *comparison, char sentence[AB_SENTENCE_BYTES])
{
    const struct abtest_result *result = &comparison->result;
    int length = ab_words_find(comparison, sentence);
    length += snprintf(sentence + length, AB_SENTENCE_BYTES - (size_t)length, ". ");
    char *rest = sentence + length;
    size_t rest_bytes = AB_SENTENCE_BYTES - (size_t)length;
    switch (result->verdict) {
    case ABTEST_GO:
        (void)snprintf(rest, rest_bytes, "B is better, and by enough to be worth a change.");
        return;
    case ABTEST_NO_GO:
        (void)snprintf(rest, rest_bytes, "B is worse.");
        return;
    case ABTEST_NEUTRAL:
        (void)snprintf(rest, rest_bytes,
                       "Whatever the difference is, it is less than 1 %%: not worth a change.");
        return;
    case ABTEST_UNDECIDED:
        break;
    }
    length = snprintf(rest, rest_bytes, "%s",
                      isfinite(result->interval.high) ? find_reason(result) : "");
    if (result->pairs_needed == ABTEST_NEVER) {
        (void)snprintf(rest + length, rest_bytes - (size_t)length,
                       "More than %d rounds would be needed to settle it.", ABTEST_PAIRS_MOST);
    } else {
        (void)snprintf(
            rest + length, rest_bytes - (size_t)length,
            "About %zu rounds would settle it: --runs %zu, or --until-decided --most %zu.",
            result->pairs_needed, result->pairs_needed, 2 * result->pairs_needed);
    }
}

void ab_words_write_program(FILE *out, const struct ab_report *report)
{
    shell_words_write_program(out, report->words, report->options->common.workload);
}

// argv[0] is already "hakmem ab".
void ab_words_write_command(FILE *out, const struct ab_report *report)
{
    shell_words_write_command(out, report->options->common.argv);
}
