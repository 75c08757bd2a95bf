/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* subr_memory.c - copyin() and its kin, alloca(), bcopy(), byte order; see subr.h */
#include "engine/memory/speculation.h"
#include "engine/run/subr.h"

/* What user memory is there, or is not, by; where pages are larger, in more pieces than they are.
 */
#define PAGE_BYTES 4096u

__probe_ctx uint64_t dbk_subr_rand(struct dbk_cpu *cpu)
{
	(void)cpu;
	return dbk_host_random();
}

__probe_ctx uint64_t dbk_subr_speculation(struct dbk_cpu *cpu)
{
	return dbk_speculation(cpu);
}

__probe_ctx uint64_t dbk_subr_progenyof(struct dbk_cpu *cpu)
{
	return dbk_spend(cpu, DBK_WORK_WALK) &&
	       dbk_host_progenyof((uint32_t)dbk_subr_argument(cpu, 0));
}

__probe_ctx uint64_t dbk_subr_copyin(struct dbk_cpu *cpu)
{
	uint64_t from = dbk_subr_argument(cpu, 0), bytes = dbk_subr_argument(cpu, 1);
	void *to = dbk_scratch(cpu, bytes);

	if (to == NULL || !dbk_may_see_process(cpu) || !dbk_spend(cpu, bytes))
		return 0;
	if (bytes != 0 && !dbk_host_load_user(to, from, (uint32_t)bytes))
		return dbk_fault(cpu, DTRACEFLT_BADADDR, from);
	return (uint64_t)(uintptr_t)to;
}

__probe_ctx uint64_t dbk_subr_copyinstr(struct dbk_cpu *cpu)
{
	uint64_t from = dbk_subr_argument(cpu, 0), room = cpu->consumer->strsize;
	int32_t length;
	char *to;

	/* copyinstr(address, size): the size counts the NUL. */
	if (cpu->tuple_count > 1 && dbk_subr_argument(cpu, 1) < room)
		room = dbk_subr_argument(cpu, 1);
	if (room == 0)
		room = 1;
	to = dbk_scratch(cpu, room);
	if (to == NULL || !dbk_may_see_process(cpu))
		return 0;
	length = dbk_host_load_user_string(to, from, (uint32_t)room);
	if (length < 0)
		return dbk_fault(cpu, DTRACEFLT_BADADDR, from);
	if (!dbk_spend(cpu, (uint64_t)length * DBK_WORK_CHAR))
		return 0;
	cpu->scratch_used -= (uint32_t)(DBK_ROUND_UP(room, 8) - DBK_ROUND_UP(length + 1, 8));
	return (uint64_t)(uintptr_t)to;
}

/*
 * copyinargs(address, bytes, otherwise): strings that lie one after the other, as one with blanks
 * between.  A command line may go on in a page that is not there: then what the first has of it;
 * it is `otherwise` when that is nothing.
 */
__probe_ctx uint64_t dbk_subr_copyinargs(struct dbk_cpu *cpu)
{
	uint64_t from = dbk_subr_argument(cpu, 0), bytes = dbk_subr_argument(cpu, 1);
	uint64_t first_page_bytes = PAGE_BYTES - (from & (PAGE_BYTES - 1));
	struct dbk_view otherwise;
	uint64_t i;
	char *to;

	if (bytes > cpu->consumer->strsize)
		bytes = cpu->consumer->strsize;
	to = dbk_scratch(cpu, bytes + 1);
	if (to == NULL || !dbk_may_see_process(cpu) || !dbk_spend(cpu, bytes * DBK_WORK_CHAR))
		return 0;
	if (bytes != 0 && !dbk_host_load_user(to, from, (uint32_t)bytes)) {
		/* As much as two faults of the clause: a process chooses which of its pages are there. */
		if (!dbk_spend(cpu, 2 * DBK_WORK_FAULT))
			return 0;
		if (bytes <= first_page_bytes ||
		    !dbk_host_load_user(to, from, (uint32_t)first_page_bytes))
			first_page_bytes = 0;
		bytes = first_page_bytes;
	}
	for (i = 0; i < bytes; i++)
		if (to[i] == '\0')
			to[i] = ' ';
	while (bytes != 0 && to[bytes - 1] == ' ')
		bytes--;
	to[bytes] = '\0';
	if (bytes != 0)
		return (uint64_t)(uintptr_t)to;
	if (!dbk_view_string(cpu, dbk_subr_argument(cpu, 2), &otherwise))
		return 0;
	return dbk_new_string(cpu, otherwise.text, otherwise.length);
}

__probe_ctx uint64_t dbk_subr_copyinto(struct dbk_cpu *cpu)
{
	uint64_t from = dbk_subr_argument(cpu, 0), bytes = dbk_subr_argument(cpu, 1);
	uint64_t to = dbk_subr_argument(cpu, 2);

	if (!dbk_may_store(cpu, to, bytes))
		return dbk_fault(cpu, DTRACEFLT_BADADDR, to);
	if (!dbk_may_see_process(cpu) || !dbk_spend(cpu, bytes))
		return 0;
	if (bytes != 0 && !dbk_host_load_user((void *)(uintptr_t)to, from, (uint32_t)bytes))
		return dbk_fault(cpu, DTRACEFLT_BADADDR, from);
	return 0;
}

/* copyout(from, address, bytes): all of it is read before any of it is written. */
__probe_ctx uint64_t dbk_subr_copyout(struct dbk_cpu *cpu)
{
	uint64_t from = dbk_subr_argument(cpu, 0), to = dbk_subr_argument(cpu, 1);
	uint64_t bytes = dbk_subr_argument(cpu, 2);
	uint32_t mark = cpu->scratch_used;
	void *copy = dbk_scratch(cpu, bytes);

	if (copy == NULL || !dbk_may_see_process(cpu) || !dbk_spend(cpu, bytes) ||
	    !dbk_load(cpu, copy, from, (uint32_t)bytes))
		return 0;
	if (bytes != 0 && !dbk_host_store_user(to, copy, (uint32_t)bytes))
		dbk_fault(cpu, DTRACEFLT_BADADDR, to);
	cpu->scratch_used = mark;
	return 0;
}

/* copyoutstr(string, address, most): the NUL goes along if there is room for it. */
__probe_ctx uint64_t dbk_subr_copyoutstr(struct dbk_cpu *cpu)
{
	uint64_t to = dbk_subr_argument(cpu, 1), most = dbk_subr_argument(cpu, 2);
	uint32_t mark = cpu->scratch_used, bytes;
	struct dbk_view view;
	char *copy;

	if (!dbk_may_see_process(cpu) || !dbk_view_string(cpu, dbk_subr_argument(cpu, 0), &view))
		return 0;
	copy = dbk_scratch(cpu, (uint64_t)view.length + 1);
	if (copy == NULL)
		return 0;
	memmove(copy, view.text, view.length);
	copy[view.length] = '\0';
	bytes = view.length + 1 < most ? view.length + 1 : (uint32_t)most;
	if (bytes != 0 && !dbk_host_store_user(to, copy, bytes))
		dbk_fault(cpu, DTRACEFLT_BADADDR, to);
	cpu->scratch_used = mark;
	return 0;
}

__probe_ctx uint64_t dbk_subr_alloca(struct dbk_cpu *cpu)
{
	return dbk_zeroed_scratch(cpu, dbk_subr_argument(cpu, 0));
}

__probe_ctx uint64_t dbk_subr_bcopy(struct dbk_cpu *cpu)
{
	dbk_copy(cpu, dbk_subr_argument(cpu, 0), dbk_subr_argument(cpu, 1),
		 dbk_subr_argument(cpu, 2));
	return 0;
}

/* A kernel dev_t: 12 bits major, 20 bits minor. */
__probe_ctx uint64_t dbk_subr_getmajor(struct dbk_cpu *cpu)
{
	return (dbk_subr_argument(cpu, 0) >> 20) & 0xfff;
}

__probe_ctx uint64_t dbk_subr_getminor(struct dbk_cpu *cpu)
{
	return dbk_subr_argument(cpu, 0) & 0xfffff;
}

/* All hosts are little-endian (abi.h): to and from network order is a swap. */
__probe_ctx uint64_t dbk_subr_swap16(struct dbk_cpu *cpu)
{
	return __builtin_bswap16((uint16_t)dbk_subr_argument(cpu, 0));
}

__probe_ctx uint64_t dbk_subr_swap32(struct dbk_cpu *cpu)
{
	return __builtin_bswap32((uint32_t)dbk_subr_argument(cpu, 0));
}

__probe_ctx uint64_t dbk_subr_swap64(struct dbk_cpu *cpu)
{
	return __builtin_bswap64(dbk_subr_argument(cpu, 0));
}
