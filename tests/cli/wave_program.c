// Allocates and frees in waves: wave_program WAVES MIB-A-WAVE.
// SPDX-License-Identifier: MIT
//
// Each block is written to, so a wave whose memory was given back to the system pays for it again.
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 48 << 10,
    BLOCKS_MOST = 4096
};

int main(int argc, char **argv)
{
    static char *blocks[BLOCKS_MOST];
    size_t wave_count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    size_t block_count = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1) * (1 << 20) / BLOCK_BYTES;
    for (size_t wave = 0; wave < wave_count; wave++) {
        for (size_t i = 0; i < block_count && i < BLOCKS_MOST; i++) {
            blocks[i] = malloc(BLOCK_BYTES);
            if (blocks[i] == NULL) {
                return EXIT_FAILURE;
            }
            memset(blocks[i], 1, BLOCK_BYTES);
        }
        for (size_t i = 0; i < block_count && i < BLOCKS_MOST; i++) {
            free(blocks[i]);
        }
    }
    return EXIT_SUCCESS;
}
