// Our own mistakes: an assertion that costs nothing in a release build.
// Layer: base.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_BASE_CHECK_H
#define HAK_BASE_CHECK_H

#ifdef NDEBUG
#    define hak_assert(condition) ((void)sizeof(condition))
#else
#    define hak_assert(condition)                                                                  \
        do {                                                                                       \
            if (!(condition)) {                                                                    \
                __builtin_trap();                                                                  \
            }                                                                                      \
        } while (0)
#endif

#endif
