// The least that the loader takes for an audit library; see audit_test.sh.
// SPDX-License-Identifier: MIT
#include <link.h>

__attribute__((visibility("default"))) unsigned la_version(unsigned version);

unsigned la_version(unsigned version)
{
    return version;
}
