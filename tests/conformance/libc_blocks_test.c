// Blocks that libc functions return belong to the heap that free serves, and can be freed.
// SPDX-License-Identifier: MIT
#include "test_check.h"

#include <argz.h>
#include <dirent.h>
#include <execinfo.h>
#include <glob.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

static bool (*owns)(const void *address);

static void is_ours_and_freed(void *block, const char *what, int line)
{
    (void)check_that(block != NULL, what, line, "a block");
    (void)check_that(owns == NULL || owns(block), what, line, "a block of this heap");
    (void)check_that(malloc_usable_size(block) > 0, what, line, "a usable size");
    free(block);
}

#define EXPECT_OURS(call) is_ours_and_freed((call), #call, __LINE__)

static void strings_are_ours(void)
{
    char *text = NULL;
    EXPECT_OURS(strdup("one"));
    EXPECT_OURS(strndup("two and more", 3));
    EXPECT_OURS(wcsdup(L"three"));
    EXPECT(asprintf(&text, "%0300d", 4) == 300);
    EXPECT_OURS(text);
    char *argz = NULL;
    size_t argz_bytes = 0;
    EXPECT(argz_create_sep("a:b:c", ':', &argz, &argz_bytes) == 0);
    EXPECT(argz_append(&argz, &argz_bytes, "more", 5) == 0);
    EXPECT_OURS(argz);
}

static void paths_are_ours(void)
{
    EXPECT_OURS(getcwd(NULL, 0));
    EXPECT_OURS(getcwd(NULL, PATH_MAX));
    EXPECT_OURS(get_current_dir_name());
    EXPECT_OURS(realpath("/proc/self/exe", NULL));
    EXPECT_OURS(canonicalize_file_name("/"));
}

static void lines_are_ours(void)
{
    char *line = NULL;
    size_t line_bytes = 0;
    FILE *stream = fopen("/proc/self/status", "r");
    REQUIRE(stream != NULL);
    EXPECT(getline(&line, &line_bytes, stream) > 0);
    EXPECT(getdelim(&line, &line_bytes, 'Z' + 1, stream) > 0);
    EXPECT_OURS(line);
    // A block of ours that getline has to make bigger.
    line = malloc(hidden(1));
    line_bytes = 1;
    rewind(stream);
    EXPECT(getline(&line, &line_bytes, stream) > 1);
    EXPECT_OURS(line);
    (void)fclose(stream);
    EXPECT(sscanf("word 1", "%ms", &line) == 1);
    EXPECT_OURS(line);
}

static void memory_streams_are_ours(void)
{
    char *text = NULL;
    wchar_t *wide = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    REQUIRE(stream != NULL);
    for (int i = 0; i < 20000; i++) {
        (void)fprintf(stream, "line %d\n", i);
    }
    (void)fclose(stream);
    EXPECT(length > 100000);
    EXPECT_OURS(text);
    stream = open_wmemstream(&wide, &length);
    REQUIRE(stream != NULL);
    (void)fwprintf(stream, L"wide %d", 5);
    (void)fclose(stream);
    EXPECT_OURS(wide);
}

static void directory_entries_are_ours(void)
{
    struct dirent **entries = NULL;
    int count = scandir("/proc/self", &entries, NULL, alphasort);
    EXPECT(count > 3);
    for (int i = 0; i < count; i++) {
        EXPECT_OURS(entries[i]);
    }
    EXPECT_OURS(entries);
}

static void backtrace_symbols_are_ours(void)
{
    void *frames[8];
    int count = backtrace(frames, 8);
    EXPECT_OURS(backtrace_symbols(frames, count));
}

// What libc frees itself: it must meet the same heap on both ways.
static void what_libc_frees_itself_works(void)
{
    glob_t paths;
    EXPECT(glob("/proc/self/*", 0, NULL, &paths) == 0);
    globfree(&paths);
    regex_t pattern;
    EXPECT(regcomp(&pattern, "^(a|b)*c{1,20}[[:alpha:]]+$", REG_EXTENDED) == 0);
    EXPECT(regexec(&pattern, "ababcccxyz", 0, NULL, 0) == 0);
    regfree(&pattern);
    wordexp_t words;
    EXPECT(wordexp("one two three", &words, WRDE_NOCMD) == 0);
    wordfree(&words);
    struct ifaddrs *addresses = NULL;
    if (getifaddrs(&addresses) == 0) {
        freeifaddrs(addresses);
    }
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    struct addrinfo *hosts = NULL;
    EXPECT(getaddrinfo("127.0.0.1", "80", &hints, &hosts) == 0);
    freeaddrinfo(hosts);
    EXPECT(setenv("HAK_TEST_VARIABLE", "value", 1) == 0);
    EXPECT(unsetenv("HAK_TEST_VARIABLE") == 0);
}

static void more_that_libc_frees_itself_works(void)
{
    EXPECT(setlocale(LC_ALL, "C.UTF-8") != NULL);
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    EXPECT(locale != (locale_t)0);
    freelocale(locale);
    iconv_t converter = iconv_open("UTF-16", "UTF-8");
    if (converter != (iconv_t)-1) {
        (void)iconv_close(converter);
    }
    EXPECT(hcreate(1000) != 0);
    hdestroy();
    FILE *child = popen("echo hello", "r");
    char text[20] = "";
    REQUIRE(child != NULL);
    EXPECT(fgets(text, sizeof(text), child) != NULL && strcmp(text, "hello\n") == 0);
    EXPECT(pclose(child) == 0);
    FILE *stream = fmemopen(NULL, 5000, "w+");
    REQUIRE(stream != NULL);
    (void)fputs("text", stream);
    (void)fclose(stream);
}

int main(void)
{
    (void)alarm(30);
    *(void **)&owns = check_symbol("hak_owns");
    strings_are_ours();
    paths_are_ours();
    lines_are_ours();
    memory_streams_are_ours();
    directory_entries_are_ours();
    backtrace_symbols_are_ours();
    what_libc_frees_itself_works();
    more_that_libc_frees_itself_works();
    EXPECT_OURS(valloc(hidden(10)));
    EXPECT_OURS(pvalloc(hidden(10)));
    EXPECT_OURS(memalign(64, hidden(10)));
    EXPECT_OURS(reallocarray(NULL, hidden(10), 10));
    return check_result();
}
