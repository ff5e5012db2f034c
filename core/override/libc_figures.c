// mallinfo, malloc_trim, mallopt and their like, telling the truth about this heap.
// SPDX-License-Identifier: MIT
#include "base/bits.h"
#include "base/compiler.h"
#include "base/text.h"
#include "os/os_process.h"
#include "override/libc_names.h"
#include "policy/gates.h"
#include "thread/heap_stats.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

static struct hak_stats read_stats(void)
{
    struct hak_stats stats = {.struct_bytes = sizeof stats};
    (void)hak_stats_read(&stats);
    return stats;
}

// As in glibc, large blocks are counted apart from the rest: hblks and hblkhd.
HAK_EXPORT struct mallinfo2 mallinfo2(void)
{
    struct hak_stats stats = read_stats();
    size_t small_bytes = stats.committed_bytes - min_size(stats.committed_bytes, stats.large_bytes);
    size_t used_bytes = stats.live_bytes - stats.large_bytes;
    return (struct mallinfo2){
        .arena = small_bytes,
        .ordblks = stats.slab_count,
        .hblks = stats.large_blocks,
        .hblkhd = stats.large_bytes,
        .uordblks = used_bytes,
        .fordblks = small_bytes - min_size(small_bytes, used_bytes),
        .keepcost = stats.dirty_bytes,
    };
}

static int as_int(size_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

// Its fields are int: what doesn't fit is INT_MAX.
static struct mallinfo narrow_figures(void)
{
    struct mallinfo2 wide = mallinfo2();
    return (struct mallinfo){
        .arena = as_int(wide.arena),
        .ordblks = as_int(wide.ordblks),
        .hblks = as_int(wide.hblks),
        .hblkhd = as_int(wide.hblkhd),
        .uordblks = as_int(wide.uordblks),
        .fordblks = as_int(wide.fordblks),
        .keepcost = as_int(wide.keepcost),
    };
}

HAK_EXPORT struct mallinfo mallinfo(void)
{
    return narrow_figures();
}

HAK_EXPORT struct mallinfo __libc_mallinfo(void)
{
    return narrow_figures();
}

HAK_EXPORT int malloc_trim(size_t pad)
{
    return hak_trim(pad) != 0;
}

// Of glibc's parameters only the one that means something here is taken: the rest answer 0, "not
// done", as glibc does for one that it doesn't know.
HAK_EXPORT int mallopt(int parameter, int value)
{
    if (parameter != M_TRIM_THRESHOLD || value < 0) {
        return 0;
    }
    char digits[32];
    struct text text = text_start(digits, sizeof digits);
    text_add_uint(&text, (unsigned)value);
    return hak_ctl_set(gate_table[GATE_ID_dirty_limit].env, digits) == 0;
}

static void add_line(struct text *text, const char *name, size_t bytes)
{
    text_add(text, name);
    text_add_uint(text, bytes);
    text_add(text, "\n");
}

HAK_EXPORT void malloc_stats(void)
{
    char buffer[512];
    struct hak_stats stats = read_stats();
    struct text text = text_start(buffer, sizeof buffer);
    add_line(&text, "hakmem heap\nlive bytes      = ", stats.live_bytes);
    add_line(&text, "live blocks     = ", stats.live_blocks);
    add_line(&text, "large bytes     = ", stats.large_bytes);
    add_line(&text, "bin bytes       = ", stats.bin_bytes);
    add_line(&text, "slab free bytes = ", stats.slab_free_bytes);
    add_line(&text, "dirty bytes     = ", stats.dirty_bytes);
    add_line(&text, "committed bytes = ", stats.committed_bytes);
    add_line(&text, "mapped bytes    = ", stats.mapped_bytes);
    os_write_error(buffer, text.length);
}

static void print_class(FILE *stream, size_t bytes, const struct class_figures *figures)
{
    (void)fprintf(stream,
                  "<size from=\"%zu\" to=\"%zu\" total=\"%zu\" count=\"%zu\" live=\"%zu\"/>\n",
                  bytes, bytes, bytes * (figures->free_count + figures->bin_count),
                  figures->free_count + figures->bin_count, figures->live_count);
}

// The elements are glibc's, so that what reads glibc's report reads ours.
HAK_EXPORT int malloc_info(int options, FILE *stream)
{
    struct hak_stats stats;
    struct class_figures classes[CLASS_COUNT];
    if (options != 0) {
        return EINVAL;
    }
    heap_stats_read(&stats, classes);
    (void)fputs("<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n", stream);
    for (unsigned cls = 1; cls < CLASS_COUNT; cls++) {
        if (classes[cls].slab_count != 0) {
            print_class(stream, size_class_bytes((class_id)cls), &classes[cls]);
        }
    }
    size_t free_bytes = stats.bin_bytes + stats.transit_bytes + stats.slab_free_bytes;
    (void)fprintf(stream,
                  "</sizes>\n</heap>\n"
                  "<total type=\"fast\" count=\"0\" size=\"%zu\"/>\n"
                  "<total type=\"rest\" count=\"%zu\" size=\"%zu\"/>\n"
                  "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n",
                  stats.bin_bytes, stats.slab_count, free_bytes, stats.large_blocks,
                  stats.large_bytes);
    (void)fprintf(
        stream,
        "<system type=\"current\" size=\"%zu\"/>\n<system type=\"max\" size=\"%zu\"/>\n"
        "<aspace type=\"total\" size=\"%zu\"/>\n<aspace type=\"mprotect\" size=\"%zu\"/>\n"
        "</malloc>\n",
        stats.committed_bytes, stats.peak_committed_bytes, stats.mapped_bytes, stats.mapped_bytes);
    return 0;
}

HAK_SAME_AS(mallopt) int __libc_mallopt(int parameter, int value);
