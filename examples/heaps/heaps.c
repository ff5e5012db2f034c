// A heap of one's own: what one request allocates is released at once, without a free for each block.
// SPDX-License-Identifier: MIT
#include <hakmem.h>

#include <stdio.h>
#include <string.h>

struct node {
    struct node *next;
    char *word;
};

// Splits `text` at its spaces.  The list and its words live in `heap`; NULL when memory is out.
static struct node *split_words(struct hak_heap *heap, const char *text)
{
    struct node *last_first = NULL;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        struct node *node = hak_heap_malloc(heap, sizeof(*node));
        char *word = hak_heap_calloc(heap, length + 1, 1);
        if (node == NULL || word == NULL) {
            return NULL;
        }
        memcpy(word, text, length);
        node->word = word;
        node->next = last_first;
        last_first = node;
        text += length + (text[length] == ' ' ? 1 : 0);
    }
    return last_first;
}

int main(void)
{
    size_t word_count = 0;
    for (int request = 0; request < 1000; request++) {
        struct hak_heap *heap = hak_heap_create();
        if (heap == NULL) {
            return 1;
        }
        struct node *words = split_words(heap, "every word of this request dies with its heap");
        if (words == NULL || !hak_owns(words) || strcmp(words->word, "heap") != 0) {
            return 1;
        }
        for (struct node *node = words; node != NULL; node = node->next) {
            word_count++;
        }
        hak_heap_destroy(heap);
    }
    printf("%zu words in 1000 heaps, none freed by itself\n", word_count);
    return word_count == 9000 ? 0 : 1;
}
