// Compiler attributes, spelled once.
// Layer: base.  Needs: nothing.
// SPDX-License-Identifier: MIT
#ifndef HAK_BASE_COMPILER_H
#define HAK_BASE_COMPILER_H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define HAK_HOT    __attribute__((always_inline)) inline
#define HAK_COLD   __attribute__((cold, noinline))
#define HAK_EXPORT __attribute__((visibility("default")))

// Reads memory that a sanitizer may have put out of bounds.
#define HAK_UNCHECKED __attribute__((no_sanitize("address")))

// Another name of a function of this file, with its attributes where the compiler can copy them.
#if __has_attribute(copy)
#    define HAK_SAME_AS(name) __attribute__((alias(#    name), copy(name))) HAK_EXPORT
#else
#    define HAK_SAME_AS(name) __attribute__((alias(#    name))) HAK_EXPORT
#endif

// Before a return of a call that must be a jump.  Compilers without it make one where they optimize
// sibling calls.
#if __has_attribute(musttail)
#    define HAK_TAIL_CALL __attribute__((musttail))
#else
#    define HAK_TAIL_CALL
#endif

// The compiler may not move stores across this line.  It orders nothing for other processors: it
// is for a reader that sees this thread stopped, as a forked child does.
#define compiler_barrier() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#endif
