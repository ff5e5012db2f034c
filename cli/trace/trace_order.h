// The order of a trace, and who frees what.
// Layer: cli.  Needs: trace_file.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_TRACE_ORDER_H
#define HAK_CLI_TRACE_ORDER_H

#include "trace_file.h"

// Fills turns, parents, children and the counts of a trace whose events are there.  Returns NULL or what
// is wrong with it; memory that is out is that too.
const char *trace_order_make(struct trace *trace);

#endif
