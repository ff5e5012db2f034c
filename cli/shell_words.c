// SPDX-License-Identifier: MIT
#include "shell_words.h"

#include <string.h>

static void write_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,:/@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        (void)fputs(word, out);
        return;
    }
    (void)fputc('\'', out);
    for (; *word != '\0'; word++) {
        (void)fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    }
    (void)fputc('\'', out);
}

void shell_words_write(FILE *out, char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (i > 0) {
            (void)fputc(' ', out);
        }
        write_word(out, words[i]);
    }
}

// Of a workload that comes with hakmem only the name: where it lies says nothing.
void shell_words_write_program(FILE *out, char *const *words, const char *workload)
{
    if (workload == NULL) {
        shell_words_write(out, words);
        return;
    }
    (void)fputs(strrchr(words[0], '/') + 1, out);
    (void)fputc(' ', out);
    shell_words_write(out, words + 1);
}

void shell_words_write_command(FILE *out, char *const *argv)
{
    (void)fprintf(out, "%s ", argv[0]);
    shell_words_write(out, argv + 1);
}
