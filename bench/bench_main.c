// SPDX-License-Identifier: MIT
#include "bench_main.h"

int main(int argc, char **argv)
{
    bench_arguments_read(&bench_program, argc, argv);
    struct bench_result result = bench_run();
    return bench_report(&bench_program, &result);
}
