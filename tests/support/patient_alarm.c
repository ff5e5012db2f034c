// Linked in place of alarm() where an emulator runs the tests: each waits several times as long.
// SPDX-License-Identifier: MIT
#include <unistd.h>

unsigned __real_alarm(unsigned seconds);
unsigned __wrap_alarm(unsigned seconds);

unsigned __wrap_alarm(unsigned seconds)
{
    return __real_alarm(seconds * HAK_TESTS_PATIENCE);
}
