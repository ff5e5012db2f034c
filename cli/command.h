// The subcommands of hakmem, and what they exit with.
// Layer: cli.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_CLI_COMMAND_H
#define HAK_CLI_COMMAND_H

enum {
    EXIT_TOOL_FAILED = 1,  // and from doctor: there is a problem
    EXIT_WRONG_USAGE = 2,
    EXIT_NOT_EXECUTABLE = 126,  // as shells do
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL_BASE = 128,
};

// Each gets the words from its own name on and returns an exit status.
int run_command(int argc, char **argv);
int ab_command(int argc, char **argv);
int ctl_command(int argc, char **argv);
int compare_command(int argc, char **argv);
int bench_command(int argc, char **argv);
int record_command(int argc, char **argv);
int replay_command(int argc, char **argv);
int tune_command(int argc, char **argv);
int version_command(int argc, char **argv);
int gates_command(int argc, char **argv);
int profiles_command(int argc, char **argv);
int doctor_command(int argc, char **argv);

// Not for users: doctor runs it under the preload, see probe.h.
int probe_command(int argc, char **argv);

// Nor this: ab runs it to ask the library for its settings, see experiment_proof.h.
int probe_gates_command(int argc, char **argv);

#endif
