// SPDX-License-Identifier: MIT
#include "experiment_settings.h"

#include "experiment_environment.h"
#include "library.h"
#include "settings.h"
#include "talk.h"

#include <stdlib.h>

static const char stats_env[] = "HAKMEM_STATS";

static bool put_settings(const char *profile, char *const *settings, size_t count)
{
    if (profile != NULL && !settings_set_profile(profile)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!settings_set_gate(settings[i])) {
            return false;
        }
    }
    if (getenv(stats_env) != NULL) {
        talk_say("%s carries the proof that hakmem ran, so it can't be a setting of a side.",
                 stats_env);
        return false;
    }
    return true;
}

char **experiment_settings_make(const struct experiment_foundation *base, const char *profile,
                                char *const *settings, size_t count)
{
    const struct experiment_list *variables = base->variables;
    char **environment = NULL;
    experiment_environment_clean(variables->words, variables->count);
    if (put_settings(profile, settings, count)) {
        bool is_complete = setenv(stats_env, base->proof_path, 1) == 0 &&
                           (base->library == NULL || library_preload(base->library));
        environment = is_complete ? experiment_environment_copy() : NULL;
        if (environment == NULL) {
            talk_say("The environment cannot be extended: memory is out.");
        }
    }
    experiment_environment_clean(variables->words, variables->count);
    return environment;
}
