// `hakmem version`: the versions of the command and of the library that it would preload.
// SPDX-License-Identifier: MIT
#include "command.h"
#include "hakmem.h"
#include "library.h"
#include "probe.h"
#include "talk.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

int version_command(int argc, char **argv)
{
    const struct argp argp = {.doc = "Prints the versions of the command and of the library."};
    if (argp_parse(&argp, argc, argv, 0, NULL, NULL) != 0) {
        return EXIT_WRONG_USAGE;
    }
    char path[PATH_MAX];
    char sentence[LIBRARY_SENTENCE_BYTES];
    struct probe_result result;
    (void)printf("hakmem %s\n", HAK_VERSION);
    if (!library_find(path, sentence)) {
        talk_say("%s", sentence);
    } else if (!probe_run(path, &result)) {
        talk_say("%s cannot be loaded. `hakmem doctor` tells more.", path);
    } else {
        (void)printf("library %s %s\n", result.version, path);
    }
    return EXIT_SUCCESS;
}
