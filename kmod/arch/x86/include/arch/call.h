/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call.h - system calls of 64-bit and of 32-bit programs: tables, numbers and arguments
 */
#ifndef DBK_KMOD_CALL_H
#define DBK_KMOD_CALL_H

#include <linux/thread_info.h>

#include <asm/unistd.h>

#include "arch/registers.h"

#define DBK_CALL_ARGUMENTS 6

/* Where in struct pt_regs, by words, the arguments of a 64-bit program's call are. */
#define DBK_CALL_ARGUMENT_WORDS                                                                    \
	{                                                                                          \
		DBK_REGISTER_WORD(di), DBK_REGISTER_WORD(si), DBK_REGISTER_WORD(dx),               \
			DBK_REGISTER_WORD(r10), DBK_REGISTER_WORD(r8), DBK_REGISTER_WORD(r9),      \
	}

/* A number is another call in each.  I386 is of 32-bit programs; a program may use several: int
 * $0x80 of a 64-bit one is of I386. */
enum dbk_call_table {
	DBK_CALL_NATIVE,
	DBK_CALL_I386,
	DBK_CALL_X32,
	DBK_CALL_TABLES
};

/* Their modules in probes' names. */
#define DBK_CALL_TABLE_NAMES { "vmlinux", "i386", "x32" }

/* 576: x86 has numbers up to 461 today, x32 up to 547. */
#define DBK_CALL_NUMBERS 576u

/**
 * dbk_call_table_works() - whether the kernel takes calls of @table
 *
 * @symbol: finds the kernel's variables
 */
bool dbk_call_table_works(enum dbk_call_table table, unsigned long (*symbol)(const char *name));

/* Those that providers look for; DBK_CALL_CLONE is fork() and what is like it. */
enum dbk_call {
	DBK_CALL_OTHER,
	DBK_CALL_EXECVE,
	DBK_CALL_EXECVEAT,
	DBK_CALL_CLONE,
	DBK_CALL_SIGWAIT,
	DBK_CALL_MOUNT,
	DBK_CALL_PIVOT_ROOT,
	DBK_CALL_SENDTO,
	DBK_CALL_SENDMSG,
};

/** dbk_call_is_32bit() - whether the current system call is a 32-bit program's.  Probe context */
static __probe_ctx_inline bool dbk_call_is_32bit(void)
{
#ifdef CONFIG_IA32_EMULATION
	return unlikely(current_thread_info()->status & TS_COMPAT);
#else
	return false;
#endif
}

/** dbk_call_number() - at its return.  Probe context */
static __probe_ctx_inline unsigned long dbk_call_number(const struct pt_regs *regs)
{
	return (int)regs->orig_ax;
}

/* NULL: of no probe. */
struct dbk_call_probes {
	struct dbk_probe *by_number[DBK_CALL_TABLES][DBK_CALL_NUMBERS];
};

/** dbk_call_probe_32() - the probe of a 32-bit program's call, or NULL.  Probe context */
static __probe_ctx_inline struct dbk_probe *dbk_call_probe_32(const struct dbk_call_probes *probes,
							      unsigned long number)
{
	return likely(number < DBK_CALL_NUMBERS) ? probes->by_number[DBK_CALL_I386][number] : NULL;
}

/** dbk_call_probe_64() - of another call.  Probe context */
static __probe_ctx_inline struct dbk_probe *dbk_call_probe_64(const struct dbk_call_probes *probes,
							      unsigned long number)
{
	if (likely(number < DBK_CALL_NUMBERS))
		return probes->by_number[DBK_CALL_NATIVE][number];
	number -= __X32_SYSCALL_BIT;
	return likely(number < DBK_CALL_NUMBERS) ? probes->by_number[DBK_CALL_X32][number] : NULL;
}

/** dbk_call_argument() - of a 64-bit program's call, @index constant.  Probe context */
static __probe_ctx_inline u64 dbk_call_argument(const struct pt_regs *regs, unsigned int index)
{
	static const u8 words[DBK_CALL_ARGUMENTS] = DBK_CALL_ARGUMENT_WORDS;

	return dbk_register(regs, words[index]);
}

/** dbk_call_argument_32() - of a 32-bit program's call, @index constant.  Probe context */
static __probe_ctx_inline u32 dbk_call_argument_32(const struct pt_regs *regs, unsigned int index)
{
	static const u8 words[DBK_CALL_ARGUMENTS] = {
		DBK_REGISTER_WORD(bx), DBK_REGISTER_WORD(cx), DBK_REGISTER_WORD(dx),
		DBK_REGISTER_WORD(si), DBK_REGISTER_WORD(di), DBK_REGISTER_WORD(bp),
	};

	return dbk_register(regs, words[index]);
}

/** dbk_call_of() - which call @number is; for 32-bit programs, whose numbers are others, up to
 * DBK_CALL_SIGWAIT.  Probe context */
enum dbk_call dbk_call_of(unsigned long number);

#endif /* DBK_KMOD_CALL_H */
