// The memory limit of the cgroup that the process runs in.
// Layer: os.  Needs: base.
// SPDX-License-Identifier: MIT
#ifndef HAK_OS_OS_CGROUP_H
#define HAK_OS_OS_CGROUP_H

#include <stdint.h>

// In bytes; 0 when there is none.  Reads files: only for HAKMEM_LIMIT=auto.
uint64_t os_cgroup_memory_limit(void);

#endif
