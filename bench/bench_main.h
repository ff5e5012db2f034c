// What a workload is made of; main() is in bench_main.c.
// SPDX-License-Identifier: MIT
#ifndef HAK_BENCH_MAIN_H
#define HAK_BENCH_MAIN_H

#include "bench_arguments.h"
#include "bench_report.h"

// Defined by the workload: its name and its command line.
extern struct bench_program bench_program;

// Defined by the workload: runs it with the arguments that bench_program holds by then.
struct bench_result bench_run(void);

#endif
