// The file through which a running program is asked to change a gate; see core/policy/control_page.h.
// Layer: cli.  Needs: talk, core/policy.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_CONTROL_FILE_H
#define HAK_CLI_CONTROL_FILE_H

#include "policy/control_page.h"

#include <stdbool.h>
#include <sys/types.h>

// Opens and maps the page of a process, and keeps other commands away from it until this one ends.  NULL,
// having said why: there is no such process, it was not started with HAKMEM_CONTROL, or its file is not
// there or not to be trusted.
struct control_page *control_file_open(pid_t pid);

enum control_answer {
    CONTROL_DONE,
    CONTROL_REFUSED,  // page->status says why
    CONTROL_SILENT,   // no answer came in time
};

// Asks for a gate to be set and waits for the answer.
enum control_answer control_file_ask(struct control_page *page, const char *gate, const char *value,
                                     double wait_seconds);

#endif
