// How surely a misuse is found: each trial is a child that works at random, misuses the heap once, works
// on, empties its stock and ends.  The table says where the trials of a kind were found, in percent.
// SPDX-License-Identifier: MIT
//
//   detection_rates [TRIALS [CALLS]]   with the library preloaded; HAKMEM_PROFILE as in the environment
//
// CALLS of malloc and free follow the misuse before the stock is emptied; the fewer, the less has been
// handed out wrongly by then.  Fails when the library finds less of a kind than it promises.  The seeds are the same in every run,
// the placement and the keys aren't.
#include "misuse.h"
#include "random_stream.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
    SLOT_COUNT = 512,
    CALLS_BEFORE = 2000,
    FILLED_BYTES = 64,
    TRIALS_DEFAULT = 1000,
    CALLS_AFTER_DEFAULT = 1000,
};

// STAGE_ACCESS: the program's own write, which faults where the page is shut.
enum stage {
    STAGE_BEFORE,
    STAGE_ACCESS,
    STAGE_CALL,
    STAGE_AFTER,
    STAGE_FLUSH,
    STAGE_END,
    STAGE_COUNT
};

// What a child tells its parent; shared.
struct report {
    enum stage stage;
    bool is_reused;  // the block has a new owner when it is misused
};

struct kind {
    const char *name;
    void (*misuse)(const struct kind *kind);
    size_t calls_least, calls_most;  // of malloc and free between the first free and the misuse
    bool is_reused;  // counts the trials whose block has a new owner, instead of the others
    // Percent that must be found; by default of those whose stock is emptied at once.
    unsigned least_default, least_hardened;
};

static struct {
    volatile struct report *report;
    struct random_stream random;
    size_t calls_after;
    unsigned char *blocks[SLOT_COUNT];
    unsigned char *victim;      // freed, and not yet taken again
    unsigned char **new_owner;  // the slot whose block covers the victim's address
} trial;

// Mostly small: 16 bytes to 4 KiB, and one in 16 up to 256 KiB.
static size_t random_bytes(void)
{
    size_t shift = 4 + random_below(&trial.random, random_below(&trial.random, 16) == 0 ? 14 : 8);
    return ((size_t)1 << shift) + random_below(&trial.random, (size_t)1 << shift);
}

// Frees or takes a block, and writes into it.
static void work_once(void)
{
    unsigned char **slot = &trial.blocks[random_below(&trial.random, SLOT_COUNT)];
    if (*slot != NULL) {
        trial.new_owner = slot == trial.new_owner ? NULL : trial.new_owner;
        misuse_free(*slot);
        *slot = NULL;
        return;
    }
    size_t bytes = random_bytes();
    *slot = misuse_malloc(bytes);
    misuse_write(*slot, 0, bytes < FILLED_BYTES ? bytes : FILLED_BYTES, 0x5a);
    if (trial.victim != NULL && *slot <= trial.victim && trial.victim < *slot + bytes) {
        trial.new_owner = slot;
    }
}

static void work(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        work_once();
    }
}

// A block of `bytes` that is freed, and calls after it as the kind says.
static unsigned char *freed_block(const struct kind *kind, size_t bytes)
{
    trial.victim = misuse_malloc(bytes);
    misuse_free(trial.victim);
    work(kind->calls_least + random_below(&trial.random, kind->calls_most - kind->calls_least + 1));
    trial.report->is_reused = trial.new_owner != NULL;
    return trial.victim;
}

static void misuse_by_free(void *pointer)
{
    trial.report->stage = STAGE_CALL;
    misuse_free(pointer);
}

static void free_twice(const struct kind *kind)
{
    misuse_by_free(freed_block(kind, random_bytes()));
}

static void free_interior(const struct kind *kind)
{
    (void)kind;
    size_t bytes = 16 + random_bytes();
    misuse_by_free(misuse_malloc(bytes) + 16 * (1 + random_below(&trial.random, bytes / 16 - 1)));
}

static void free_misaligned(const struct kind *kind)
{
    (void)kind;
    misuse_by_free(misuse_malloc(random_bytes()) + 1 + random_below(&trial.random, 15));
}

static void free_mapping(const struct kind *kind)
{
    (void)kind;
    unsigned char *mapping =
        mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapping != MAP_FAILED);
    misuse_by_free(mapping + 16 * random_below(&trial.random, 65536));
}

static void free_stack(const struct kind *kind)
{
    (void)kind;
    _Alignas(16) unsigned char variable[4096] = {0};
    misuse_by_free(variable + 16 * random_below(&trial.random, 256));
}

static void write_random(unsigned char *start, size_t count)
{
    trial.report->stage = STAGE_ACCESS;
    for (size_t i = 0; i < count; i++) {
        misuse_write(start + i, 0, 1, (unsigned char)random_next(&trial.random));
    }
    trial.report->stage = STAGE_CALL;
}

static void write_first_word(const struct kind *kind)
{
    write_random(freed_block(kind, random_bytes()), 8);
}

static void write_behind_first_word(const struct kind *kind)
{
    size_t bytes = 16 + random_bytes();
    unsigned char *block = freed_block(kind, bytes);
    write_random(block + 8 + random_below(&trial.random, bytes - 8), 1);
}

static void overflow(const struct kind *kind)
{
    (void)kind;
    size_t bytes = random_bytes();
    unsigned char *block = misuse_malloc(bytes);
    write_random(block + bytes, 1 + random_below(&trial.random, 32));
    misuse_free(block);
}

static const struct kind kinds[] = {
    {"double free, nothing in between", free_twice, 0, 0, false, 100, 100},
    {"double free, 1 to 10 calls in between", free_twice, 1, 10, false, 100, 100},
    {"double free, 11 to 100 calls in between", free_twice, 11, 100, false, 100, 100},
    {"double free, 101 to 1000 calls in between", free_twice, 101, 1000, false, 100, 100},
    {"double free of what has a new owner", free_twice, 1, 1000, true, 0, 50},
    {"free inside a block, on a multiple of 16", free_interior, 0, 0, false, 100, 100},
    {"free of a misaligned pointer", free_misaligned, 0, 0, false, 100, 100},
    {"free of memory that the program mapped", free_mapping, 0, 0, false, 100, 100},
    {"free of a variable on the stack", free_stack, 0, 0, false, 100, 100},
    {"first 8 bytes of a free block written", write_first_word, 0, 10, false, 50, 50},
    {"a byte of a free block written, not the first 8", write_behind_first_word, 0, 10, false, 0,
     50},
    {"overflow by 1 to 32 bytes", overflow, 0, 0, false, 0, 50},
};

static _Noreturn void run_child(const struct kind *kind, uint64_t seed)
{
    struct rlimit no_core = {0};
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    (void)alarm(20);
    trial.random.state = seed;
    work(CALLS_BEFORE);
    kind->misuse(kind);
    trial.report->stage = STAGE_AFTER;
    work(trial.calls_after);
    trial.report->stage = STAGE_FLUSH;
    misuse_flush();
    trial.report->stage = STAGE_END;
    _exit(0);
}

// Where the trials of a kind were found, by SIGABRT or at a guard, and how many died of what came of it.
struct tally {
    unsigned counted, reused;
    unsigned found[STAGE_COUNT], crashed;
};

static void run_trial(const struct kind *kind, uint64_t seed, struct tally *tally)
{
    *trial.report = (struct report){0};
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        run_child(kind, seed);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    enum stage stage = trial.report->stage;
    REQUIRE(stage != STAGE_BEFORE);
    tally->reused += trial.report->is_reused;
    if (trial.report->is_reused != kind->is_reused) {
        return;
    }
    tally->counted++;
    bool is_found = stage == STAGE_ACCESS || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    bool has_ended = status == 0;
    tally->found[stage == STAGE_ACCESS ? STAGE_CALL : stage] += is_found || has_ended;
    tally->crashed += !is_found && !has_ended;
}

static double percent(unsigned count, unsigned total)
{
    return total == 0 ? 0 : 100.0 * count / total;
}

static void run_kind(const struct kind *kind, unsigned trials)
{
    struct tally tally = {0};
    for (unsigned i = 0; i < trials; i++) {
        run_trial(kind, i, &tally);
    }
    unsigned found = tally.found[STAGE_CALL] + tally.found[STAGE_AFTER] + tally.found[STAGE_FLUSH];
    printf("| %s | %.1f | %u |", kind->name, percent(tally.reused, trials), tally.counted);
    for (enum stage stage = STAGE_CALL; stage <= STAGE_END; stage++) {
        printf(" %.1f |", percent(tally.found[stage], tally.counted));
    }
    printf(" %.1f |\n", percent(tally.crashed, tally.counted));
    const char *profile = getenv("HAKMEM_PROFILE");
    bool is_hardened = profile != NULL && strcmp(profile, "hardened") == 0;
    unsigned least = is_hardened ? kind->least_hardened : kind->least_default;
    if (check_has_hakmem() && (is_hardened || trial.calls_after == 0)) {
        EXPECT(100 * found >= least * tally.counted);
    }
}

int main(int argc, char **argv)
{
    unsigned trials = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : TRIALS_DEFAULT;
    trial.calls_after = argc > 2 ? strtoul(argv[2], NULL, 10) : CALLS_AFTER_DEFAULT;
    trial.report = mmap(NULL, sizeof(*trial.report), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(trial.report != MAP_FAILED && trials != 0);
    puts("| misuse | new owner | trials | at the call | later | at the flush | not | crash |\n"
         "|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        run_kind(&kinds[i], trials);
    }
    return check_result();
}
