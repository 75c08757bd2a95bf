/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscalls.h - the few system calls of a program without a C library, on x86-64
 */
#ifndef DBK_EARLY_INIT_SYSCALLS_H
#define DBK_EARLY_INIT_SYSCALLS_H

/* Numbers of the x86-64 system call table. */
enum {
	SYSCALL_READ = 0,
	SYSCALL_WRITE = 1,
	SYSCALL_OPEN = 2,
	SYSCALL_CLOSE = 3,
	SYSCALL_GETPID = 39,
	SYSCALL_EXECVE = 59,
	SYSCALL_EXIT = 60,
	SYSCALL_UNAME = 63,
	SYSCALL_MKDIR = 83,
	SYSCALL_RMDIR = 84,
	SYSCALL_MOUNT = 165,
	SYSCALL_UMOUNT2 = 166,
	SYSCALL_FINIT_MODULE = 313,
};

/* Errors come back as -4095 .. -1. */
static inline long syscall3(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long syscall5(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

#endif /* DBK_EARLY_INIT_SYSCALLS_H */
