// SPDX-License-Identifier: GPL-2.0-only
/* call.c - system calls' tables and numbers */
#include <linux/jump_label.h>

#include <asm/unistd.h>

#include "arch/call.h"

bool dbk_call_table_works(enum dbk_call_table table, unsigned long (*symbol)(const char *name))
{
	unsigned long variable;

	switch (table) {
	case DBK_CALL_I386:
		/* Since v6.7 ("x86: Make IA32_EMULATION boot time configurable"). */
		variable = symbol("__ia32_enabled");
		return IS_ENABLED(CONFIG_IA32_EMULATION) && (!variable || *(const bool *)variable);
	case DBK_CALL_X32:
		/* Debian's: syscall.x32=y on the command line. */
		variable = symbol("x32_enabled_skey");
		return IS_ENABLED(CONFIG_X86_X32_ABI) &&
		       (!variable || static_key_enabled((struct static_key *)variable));
	default:
		return true;
	}
}

static __probe_ctx enum dbk_call call_of_32(unsigned long number)
{
	/* Numbers never change; the headers of a 64-bit kernel do not have these. */
	switch (number) {
	case 11:
		return DBK_CALL_EXECVE;
	case 358:
		return DBK_CALL_EXECVEAT;
	case 2:	  /* fork */
	case 120: /* clone */
	case 190: /* vfork */
	case 435: /* clone3 */
		return DBK_CALL_CLONE;
	case 177: /* rt_sigtimedwait */
	case 421: /* rt_sigtimedwait_time64 */
		return DBK_CALL_SIGWAIT;
	}
	return DBK_CALL_OTHER;
}

__probe_ctx enum dbk_call dbk_call_of(unsigned long number)
{
	if (dbk_call_is_32bit())
		return call_of_32(number);
	switch (number) {
	case __NR_execve:
		return DBK_CALL_EXECVE;
	case __NR_execveat:
		return DBK_CALL_EXECVEAT;
	case __NR_fork:
	case __NR_vfork:
	case __NR_clone:
	case __NR_clone3:
		return DBK_CALL_CLONE;
	case __NR_rt_sigtimedwait:
		return DBK_CALL_SIGWAIT;
	case __NR_mount:
		return DBK_CALL_MOUNT;
	case __NR_pivot_root:
		return DBK_CALL_PIVOT_ROOT;
	case __NR_sendto:
		return DBK_CALL_SENDTO;
	case __NR_sendmsg:
		return DBK_CALL_SENDMSG;
	}
	return DBK_CALL_OTHER;
}
