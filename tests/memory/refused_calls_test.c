// Uses everything while inject_faults lets the allocator's system calls fail; then everything works again,
// and no more is held than the same work leaves behind otherwise.
// SPDX-License-Identifier: MIT
//
// Arguments: the rounds.  With "calm" behind, nothing may fail.
#include "faults_end.h"
#include "piece_lot.h"
#include "test_check.h"
#include "use_everything.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    // What the work leaves when nothing fails, about 4 and 25 MB, and as much again.
    COMMITTED_BYTES_MOST = 8 << 20,
    MAPPED_BYTES_MOST = 50 << 20,
    LIBC_BLOCKS_MOST = 40,  // that libc has taken meanwhile, for threads and fork handlers
};

int main(int argc, char **argv)
{
    REQUIRE(argc >= 2);
    (void)alarm(100);
    size_t rounds = strtoull(argv[1], NULL, 10);
    struct end_figures start = use_everything_read_end();
    lot_may_fail(argc == 2);
    for (size_t round = 0; round < rounds; round++) {
        use_everything(round);
    }
    end_faults();
    lot_may_fail(false);
    use_everything(rounds);
    struct end_figures end = use_everything_read_end();
    EXPECT_AT_MOST(end.live_blocks, start.live_blocks + LIBC_BLOCKS_MOST);
    EXPECT(end.dirty_bytes == 0);
    EXPECT_AT_MOST(end.committed_bytes, start.committed_bytes + COMMITTED_BYTES_MOST);
    EXPECT_AT_MOST(end.rss_bytes, start.rss_bytes + COMMITTED_BYTES_MOST);
    EXPECT_AT_MOST(end.mapped_bytes, start.mapped_bytes + MAPPED_BYTES_MOST);
    EXPECT_AT_MOST(end.vsz_bytes - start.vsz_bytes, end.mapped_bytes - start.mapped_bytes);
    EXPECT_AT_MOST(end.mapped_bytes - start.mapped_bytes, end.vsz_bytes - start.vsz_bytes);
    return check_result();
}
