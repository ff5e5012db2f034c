// SPDX-License-Identifier: MIT
#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int elf_file_open(struct elf_file *elf, const char *path)
{
    *elf = (struct elf_file){.bytes = NULL, .byte_count = 0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return errno;
    }
    struct stat status;
    int error = fstat(descriptor, &status) != 0 ? errno : 0;
    if (error == 0 && status.st_size > 0) {
        size_t byte_count = (size_t)status.st_size;
        void *bytes = mmap(NULL, byte_count, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (bytes == MAP_FAILED) {
            error = errno;
        } else {
            *elf = (struct elf_file){.bytes = bytes, .byte_count = byte_count};
        }
    }
    (void)close(descriptor);
    return error;
}

void elf_file_close(struct elf_file *elf)
{
    if (elf->bytes != NULL) {
        (void)munmap(elf->bytes, elf->byte_count);
        elf->bytes = NULL;
    }
}

// The `index`th of the records of `record_bytes` that start at `offset`, or NULL when it isn't in
// the file or isn't aligned.
static const void *find_record(const struct elf_file *elf, uint64_t offset, uint64_t index,
                               size_t record_bytes)
{
    uint64_t start = 0;
    if (__builtin_mul_overflow(index, record_bytes, &start) ||
        __builtin_add_overflow(start, offset, &start) || start > elf->byte_count ||
        elf->byte_count - start < record_bytes || start % sizeof(uint64_t) != 0) {
        return NULL;
    }
    return (const char *)elf->bytes + start;
}

static const ElfW(Ehdr) * find_header(const struct elf_file *elf)
{
    return find_record(elf, 0, 0, sizeof(ElfW(Ehdr)));
}

static const ElfW(Shdr) * find_section(const struct elf_file *elf, unsigned index)
{
    const ElfW(Ehdr) *header = find_header(elf);
    if (header == NULL || index >= header->e_shnum || header->e_shentsize != sizeof(ElfW(Shdr))) {
        return NULL;
    }
    return find_record(elf, header->e_shoff, index, sizeof(ElfW(Shdr)));
}

// The string at `offset` in the string section `section_index`, or "" when there is none.
static const char *find_string(const struct elf_file *elf, unsigned section_index, uint64_t offset)
{
    const ElfW(Shdr) *strings = find_section(elf, section_index);
    if (strings == NULL || strings->sh_type != SHT_STRTAB || offset >= strings->sh_size ||
        strings->sh_offset >= elf->byte_count ||
        elf->byte_count - strings->sh_offset < strings->sh_size) {
        return "";
    }
    const char *string = (const char *)elf->bytes + strings->sh_offset + offset;
    return memchr(string, '\0', strings->sh_size - offset) != NULL ? string : "";
}

bool elf_file_is_elf(const struct elf_file *elf)
{
    return elf->byte_count >= EI_NIDENT && memcmp(elf->bytes, ELFMAG, SELFMAG) == 0;
}

bool elf_file_is_ours(const struct elf_file *elf)
{
    struct elf_file own;
    if (elf_file_open(&own, "/proc/self/exe") != 0) {
        return false;
    }
    const ElfW(Ehdr) *own_header = find_header(&own);
    const ElfW(Ehdr) *header = find_header(elf);
    bool is_ours = own_header != NULL && header != NULL &&
                   header->e_ident[EI_CLASS] == own_header->e_ident[EI_CLASS] &&
                   header->e_ident[EI_DATA] == own_header->e_ident[EI_DATA] &&
                   header->e_machine == own_header->e_machine;
    elf_file_close(&own);
    return is_ours;
}

bool elf_file_has_loader(const struct elf_file *elf)
{
    const ElfW(Ehdr) *header = find_header(elf);
    for (unsigned i = 0; header != NULL && i < header->e_phnum; i++) {
        const ElfW(Phdr) *segment = find_record(elf, header->e_phoff, i, sizeof *segment);
        if (segment != NULL && segment->p_type == PT_INTERP) {
            return true;
        }
    }
    return false;
}

static bool section_defines(const struct elf_file *elf, const ElfW(Shdr) * symbols,
                            const char *name)
{
    uint64_t symbol_count = symbols->sh_size / sizeof(ElfW(Sym));
    for (uint64_t i = 0; i < symbol_count; i++) {
        const ElfW(Sym) *symbol = find_record(elf, symbols->sh_offset, i, sizeof *symbol);
        if (symbol == NULL) {
            return false;
        }
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            strcmp(find_string(elf, symbols->sh_link, symbol->st_name), name) == 0) {
            return true;
        }
    }
    return false;
}

bool elf_file_defines(const struct elf_file *elf, enum elf_symbols which, const char *name)
{
    const ElfW(Ehdr) *header = find_header(elf);
    for (unsigned i = 0; header != NULL && i < header->e_shnum; i++) {
        const ElfW(Shdr) *section = find_section(elf, i);
        if (section == NULL) {
            return false;
        }
        bool is_wanted = section->sh_type == SHT_DYNSYM ||
                         (which == ELF_ALL_SYMBOLS && section->sh_type == SHT_SYMTAB);
        if (is_wanted && section_defines(elf, section, name)) {
            return true;
        }
    }
    return false;
}

static bool visit_dynamic_section(const struct elf_file *elf, const ElfW(Shdr) * section,
                                  bool (*visit)(const char *, void *), void *context)
{
    uint64_t entry_count = section->sh_size / sizeof(ElfW(Dyn));
    for (uint64_t i = 0; i < entry_count; i++) {
        const ElfW(Dyn) *entry = find_record(elf, section->sh_offset, i, sizeof *entry);
        if (entry == NULL || entry->d_tag == DT_NULL) {
            return true;
        }
        if (entry->d_tag == DT_NEEDED &&
            !visit(find_string(elf, section->sh_link, entry->d_un.d_val), context)) {
            return false;
        }
    }
    return true;
}

void elf_file_for_each_needed(const struct elf_file *elf, bool (*visit)(const char *, void *),
                              void *context)
{
    const ElfW(Ehdr) *header = find_header(elf);
    for (unsigned i = 0; header != NULL && i < header->e_shnum; i++) {
        const ElfW(Shdr) *section = find_section(elf, i);
        if (section == NULL) {
            return;
        }
        if (section->sh_type == SHT_DYNAMIC &&
            !visit_dynamic_section(elf, section, visit, context)) {
            return;
        }
    }
}
