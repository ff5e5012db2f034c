// A library that can be preloaded and is not hakmem.
// SPDX-License-Identifier: MIT
int other_library_answer(void);

__attribute__((visibility("default"))) int other_library_answer(void)
{
    return 42;
}
