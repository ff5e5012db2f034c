// The one way into the kernel: a raw system call that leaves errno alone.
// Layer: os.  Needs: nothing.
// SPDX-License-Identifier: MIT
//
// libc's wrappers can be interposed (by a tracer, by the program) and then call malloc while one of
// our locks is held; these can't.  Returns the kernel's value: a negative errno value on failure.
#ifndef HAK_OS_SYSCALL_H
#define HAK_OS_SYSCALL_H

#if defined(__x86_64__)

static inline long os_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

static inline long os_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#else
#    error "hakmem has no system call door for this processor yet: add one to core/os/syscall.h"
#endif

#endif
