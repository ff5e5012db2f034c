// Says which object a process takes its malloc from: preloaded by `hakmem compare` into every run,
// behind the allocator that is being measured.
// SPDX-License-Identifier: MIT
//
// Writes two lines into the file that AB_WITNESS names, "<pid> start <object>" when the process has
// been loaded and "<pid> end <object>" when it leaves by exit.  It allocates nothing and interposes
// nothing, and is the same on all sides.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINE_BYTES = PATH_MAX + 64
};

static const void *find_dynamic(const ElfW(Dyn) * entry, ElfW(Sxword) tag)
{
    while (entry->d_tag != tag) {
        if (entry->d_tag == DT_NULL) {
            return NULL;
        }
        entry++;
    }
    return (const void *)(uintptr_t)entry->d_un.d_ptr;
}

static uint32_t hash_name(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++) {
        hash = hash * 33 + (unsigned char)*name;
    }
    return hash;
}

// By the GNU hash table: four words, the Bloom filter, the buckets, and the chains, whose last entry
// is odd.  An object without that table is taken to define nothing.
static bool defines(const struct link_map *object, const char *name)
{
    const uint32_t *table = find_dynamic(object->l_ld, DT_GNU_HASH);
    const ElfW(Sym) *symbols = find_dynamic(object->l_ld, DT_SYMTAB);
    const char *strings = find_dynamic(object->l_ld, DT_STRTAB);
    // The loader doesn't relocate the table of the kernel's own object.
    if (table == NULL || (uintptr_t)table < object->l_addr) {
        return false;
    }
    const uint32_t *buckets = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table);
    const uint32_t *chains = buckets + table[0];
    uint32_t hash = hash_name(name);
    uint32_t index = table[0] > 0 ? buckets[hash % table[0]] : 0;
    while (index != 0) {
        uint32_t entry = chains[index - table[1]];
        if ((entry | 1) == (hash | 1) && strcmp(strings + symbols[index].st_name, name) == 0) {
            return symbols[index].st_shndx != SHN_UNDEF;
        }
        index = (entry & 1) != 0 ? 0 : index + 1;
    }
    return false;
}

// The object whose malloc every other one gets from the loader.  A program at a fixed address that
// takes malloc's address lends its own stub as that address, and dlsym finds the stub; then the
// objects are asked in the order in which the loader asks them.
static const char *find_allocator(Dl_info *found)
{
    const ElfW(Sym) *symbol = NULL;
    void *function = dlsym(RTLD_DEFAULT, "malloc");
    if (function == NULL ||
        dladdr1(function, found, (void **)(void *)&symbol, RTLD_DL_SYMENT) == 0) {
        return NULL;
    }
    if (symbol == NULL || symbol->st_shndx != SHN_UNDEF) {
        return found->dli_fname;
    }
    const struct link_map *object = _r_debug.r_map->l_next;  // behind the program
    while (object != NULL && !defines(object, "malloc")) {
        object = object->l_next;
    }
    return object != NULL ? object->l_name : NULL;
}

static void testify(const char *moment)
{
    char line[LINE_BYTES];
    Dl_info found;
    const char *path = getenv("AB_WITNESS");
    int file = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file < 0) {
        return;
    }
    const char *object = find_allocator(&found);
    if (object != NULL) {
        int length = snprintf(line, sizeof line, "%d %s %s\n", (int)getpid(), moment, object);
        if (length > 0 && length < (int)sizeof line) {
            (void)!write(file, line, (size_t)length);
        }
    }
    (void)close(file);
}

__attribute__((constructor)) static void testify_at_start(void)
{
    testify("start");
}

__attribute__((destructor)) static void testify_at_end(void)
{
    testify("end");
}
