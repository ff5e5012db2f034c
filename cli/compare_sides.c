// SPDX-License-Identifier: MIT
#include "compare_sides.h"

#include "command.h"
#include "experiment_environment.h"
#include "library.h"
#include "talk.h"

#include <stdlib.h>

// The figures of hakmem's heap tell the number of threads; the other side of that is that hakmem
// alone has to write them.
static char **make_environment(const struct compare_proof_files *files,
                               const struct compare_allocator *allocator)
{
    const struct experiment_list *variables = files->variables;
    bool writes_figures = files->heap_path != NULL && allocator->is_hakmem;
    char **environment = NULL;
    experiment_environment_clean(variables->words, variables->count);
    bool is_complete = experiment_witness_preload(
                           files->witness, allocator->is_preloaded ? allocator->object : NULL) &&
                       (!writes_figures || setenv("HAKMEM_STATS", files->heap_path, 1) == 0);
    environment = is_complete ? experiment_environment_copy() : NULL;
    experiment_environment_clean(variables->words, variables->count);
    return environment;
}

int compare_sides_start(const struct experiment_options *common, const char *list, int *core,
                        struct compare_proofs *proofs, struct compare_allocators *allocators)
{
    char library[PATH_MAX];
    char sentence[LIBRARY_SENTENCE_BYTES];
    int status = experiment_options_find_core(common, core);
    if (status != EXIT_SUCCESS) {
        return status;
    }
    if (!library_find(library, sentence)) {
        talk_say("%s", sentence);
        return EXIT_TOOL_FAILED;
    }
    if (!experiment_proof_open(&proofs->heap) || !experiment_witness_open(&proofs->witness)) {
        return EXIT_TOOL_FAILED;
    }
    experiment_environment_clean(common->variables.words, common->variables.count);
    return compare_allocators_find(list, library, &proofs->witness, allocators);
}

bool compare_sides_make(struct experiment_side *sides, size_t count,
                        const struct compare_allocators *allocators,
                        const struct compare_proof_files *files)
{
    char **environments[COMPARE_ALLOCATORS_MOST + 1];
    bool is_good = sides != NULL;
    for (size_t i = 0; is_good && i < count; i++) {
        const struct compare_allocator *allocator =
            &allocators->list[i < allocators->count ? i : 0];
        environments[i] = make_environment(files, allocator);
        is_good = environments[i] != NULL;
        sides[i].name = allocator->name;
        sides[i].object = allocator->object;
    }
    is_good = is_good && experiment_environment_pad(environments, count);
    for (size_t i = 0; is_good && i < count; i++) {
        sides[i].environment = environments[i];
    }
    if (!is_good) {
        talk_say("The environment cannot be extended: memory is out.");
    }
    return is_good;
}
