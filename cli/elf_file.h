// A look into a 64-bit ELF file of this machine.  Nothing in the file is trusted: what lies outside
// it, or isn't aligned, reads as absent.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_ELF_FILE_H
#define HAK_CLI_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct elf_file {
    void *bytes;  // the mapped file, only to be read
    size_t byte_count;
};

// Maps the file, whatever is in it.  Returns 0 or an errno value.
int elf_file_open(struct elf_file *elf, const char *path);
void elf_file_close(struct elf_file *elf);

bool elf_file_is_elf(const struct elf_file *elf);

// True when this process's processor, word size and byte order are the file's.  The functions
// below need that.
bool elf_file_is_ours(const struct elf_file *elf);

// True when the file is run by a loader, that is, linked dynamically.
bool elf_file_has_loader(const struct elf_file *elf);

enum elf_symbols {
    ELF_EXPORTED,
    ELF_ALL_SYMBOLS
};

// True when the file itself defines a function of that name.  A stripped file has only exported
// symbols.
bool elf_file_defines(const struct elf_file *elf, enum elf_symbols which, const char *name);

// Calls `visit` for the name of each library that the file asks for, until it returns false.
void elf_file_for_each_needed(const struct elf_file *elf,
                              bool (*visit)(const char *library, void *context), void *context);

#endif
