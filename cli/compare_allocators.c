// SPDX-License-Identifier: MIT
#include "compare_allocators.h"

#include "command.h"
#include "policy/gate_text.h"
#include "talk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LIBRARY_NAMES_MOST = 3
};

static const struct {
    const char *name;
    const char *libraries[LIBRARY_NAMES_MOST];  // as the loader looks for them, the best first
    const char *package;                        // Debian's
} peers[] = {
    {"mimalloc", {"libmimalloc.so.2", "libmimalloc.so.3"}, "libmimalloc2.0"},
    {"jemalloc", {"libjemalloc.so.2"}, "libjemalloc2"},
    {"tcmalloc", {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"}, "libtcmalloc-minimal4"},
};

enum {
    PEER_COUNT = sizeof peers / sizeof peers[0]
};

static const char usual_list[] = "system,hakmem,mimalloc,jemalloc,tcmalloc";

// Where the allocators are looked for.
struct search {
    const char *hakmem;
    const struct experiment_witness *witness;
    bool is_usual_list;
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int find_system(const struct search *search, struct compare_allocator *allocator)
{
    char message[PATH_MAX];
    char found[PATH_MAX];
    if (!experiment_witness_find(search->witness, NULL, found, message) ||
        realpath(found, allocator->object) == NULL) {
        talk_say("The witness cannot be preloaded, so nothing can be proved. %s", message);
        return EXIT_TOOL_FAILED;
    }
    if (strncmp(base_of(found), "libc.so", strlen("libc.so")) != 0) {
        talk_say(
            "malloc comes from %s even where nothing is preloaded, so there is no system side. "
            "Look into /etc/ld.so.preload, or leave system out of --allocators.",
            found);
        return EXIT_TOOL_FAILED;
    }
    return EXIT_SUCCESS;
}

// True when preloading `object` brings in the malloc of that file.
static bool can_preload(const struct search *search, const char *object,
                        struct compare_allocator *allocator, char message[PATH_MAX])
{
    char found[PATH_MAX];
    if (!experiment_witness_find(search->witness, object, found, message) ||
        realpath(found, allocator->object) == NULL) {
        return false;
    }
    if (strchr(object, '/') == NULL) {
        return strcmp(base_of(found), object) == 0;
    }
    char wanted[PATH_MAX];
    return realpath(object, wanted) != NULL && strcmp(wanted, allocator->object) == 0;
}

static int find_file(const struct search *search, const char *path,
                     struct compare_allocator *allocator)
{
    char absolute[PATH_MAX];
    char message[PATH_MAX];
    if (realpath(path, absolute) == NULL || access(absolute, R_OK) != 0) {
        talk_say("%s=%s cannot be read: %s.", allocator->name, path, strerror(errno));
        return EXIT_WRONG_USAGE;
    }
    if (strpbrk(absolute, ": ") != NULL) {
        talk_say("%s=%s: LD_PRELOAD takes no path with a space or a colon.", allocator->name, path);
        return EXIT_WRONG_USAGE;
    }
    allocator->is_preloaded = true;
    if (!can_preload(search, absolute, allocator, message)) {
        talk_say("%s=%s is no allocator that can be preloaded: malloc does not come from it.%s%s",
                 allocator->name, path, message[0] != '\0' ? " " : "", message);
        return EXIT_WRONG_USAGE;
    }
    return EXIT_SUCCESS;
}

static bool find_peer(const struct search *search, size_t peer, struct compare_allocator *allocator)
{
    char message[PATH_MAX];
    allocator->is_preloaded = true;
    for (size_t i = 0; i < LIBRARY_NAMES_MOST && peers[peer].libraries[i] != NULL; i++) {
        if (can_preload(search, peers[peer].libraries[i], allocator, message)) {
            return true;
        }
    }
    if (search->is_usual_list) {
        talk_say("%s is left out: it is not installed (Debian: apt-get install %s).",
                 allocator->name, peers[peer].package);
    } else {
        talk_say("%s is not installed (Debian: apt-get install %s). Install it, or leave it out "
                 "of --allocators.",
                 allocator->name, peers[peer].package);
    }
    return false;
}

static int find_peer_or_leave_out(const struct search *search,
                                  struct compare_allocators *allocators)
{
    struct compare_allocator *allocator = &allocators->list[allocators->count];
    for (size_t peer = 0; peer < PEER_COUNT; peer++) {
        if (strcmp(allocator->name, peers[peer].name) == 0) {
            bool is_found = find_peer(search, peer, allocator);
            allocators->count += is_found;
            return is_found || search->is_usual_list ? EXIT_SUCCESS : EXIT_WRONG_USAGE;
        }
    }
    talk_say(
        "%s is not an allocator known here. Give system, hakmem, mimalloc, jemalloc, tcmalloc, "
        "or NAME=FILE.so.",
        allocator->name);
    return EXIT_WRONG_USAGE;
}

// With its name written already; counts it if it is found.
static int find_one(const struct search *search, const char *path,
                    struct compare_allocators *allocators)
{
    struct compare_allocator *allocator = &allocators->list[allocators->count];
    int status = EXIT_SUCCESS;
    allocator->is_preloaded = false;
    allocator->is_hakmem = strcmp(allocator->name, "hakmem") == 0;
    if (path == NULL && !allocator->is_hakmem && strcmp(allocator->name, "system") != 0) {
        return find_peer_or_leave_out(search, allocators);
    }
    if (path != NULL || allocator->is_hakmem) {
        status = find_file(search, path != NULL ? path : search->hakmem, allocator);
    } else {
        status = find_system(search, allocator);
    }
    allocators->count += status == EXIT_SUCCESS;
    return status;
}

// NAME or NAME=FILE
static int add(const struct search *search, const char *word, struct compare_allocators *allocators)
{
    if (allocators->count == COMPARE_ALLOCATORS_MOST) {
        talk_say("--allocators: more than %d of them.", COMPARE_ALLOCATORS_MOST);
        return EXIT_WRONG_USAGE;
    }
    struct compare_allocator *allocator = &allocators->list[allocators->count];
    size_t length = strcspn(word, "=");
    const char *path = word[length] == '=' ? word + length + 1 : NULL;
    if (length == 0 || length >= COMPARE_NAME_BYTES) {
        talk_say("--allocators: '%s' has no name, or one that is too long. Give a list such as "
                 "system,mimalloc,mine=./libmine.so.",
                 word);
        return EXIT_WRONG_USAGE;
    }
    (void)snprintf(allocator->name, sizeof allocator->name, "%.*s", (int)length, word);
    for (size_t i = 0; i < allocators->count; i++) {
        if (strcmp(allocators->list[i].name, allocator->name) == 0) {
            talk_say("--allocators: two of them are named %s.", allocator->name);
            return EXIT_WRONG_USAGE;
        }
    }
    if (path != NULL && strcmp(allocator->name, "system") == 0) {
        talk_say("--allocators: system is the C library's own malloc and has no file. Give %s "
                 "another name.",
                 path);
        return EXIT_WRONG_USAGE;
    }
    return find_one(search, path, allocators);
}

static bool names_hakmem(const char *list)
{
    struct slice rest = slice_of(list);
    while (rest.length > 0) {
        struct slice word = slice_cut(&rest, ',');
        struct slice name = slice_cut(&word, '=');
        if (slice_is(name, "hakmem")) {
            return true;
        }
    }
    return false;
}

int compare_allocators_find(const char *list, const char *hakmem,
                            const struct experiment_witness *witness,
                            struct compare_allocators *allocators)
{
    const struct search search = {hakmem, witness, list == NULL};
    struct slice rest = slice_of(list != NULL ? list : usual_list);
    bool is_added = list != NULL && !names_hakmem(list);
    int status = EXIT_SUCCESS;
    allocators->count = 0;
    do {
        struct slice slice = slice_cut(&rest, ',');
        char *word = strndup(slice.start, slice.length);
        status = word != NULL ? add(&search, word, allocators) : EXIT_TOOL_FAILED;
        free(word);
        if (status == EXIT_SUCCESS && is_added && allocators->count == 1) {
            status = add(&search, "hakmem", allocators);
            is_added = false;
        }
    } while (status == EXIT_SUCCESS && rest.length > 0);
    if (status == EXIT_SUCCESS && allocators->count == 1) {
        talk_say("hakmem is the only allocator: there is nothing to compare it with. Give "
                 "--allocators system, or leave it out.");
        return EXIT_WRONG_USAGE;
    }
    return status;
}
