/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * subr.h - the subroutines that D can call
 *
 * One table joins id, name, least number of arguments and function; verifier
 * and interpreter both use it.  A function finds its arguments on the tuple
 * stack, allocates its result in scratch, and notes a fault when it cannot.
 */
#ifndef DBK_ENGINE_SUBR_H
#define DBK_ENGINE_SUBR_H

#include "engine/run/dif.h"

typedef uint64_t dbk_subr_fn(struct dbk_cpu *cpu);

/** dbk_subr_offered() - whether this engine does subroutine @id; @id is at most DIF_SUBR_MAX */
bool dbk_subr_offered(uint32_t id);

/** dbk_subr_is_destructive() - whether it changes more than the program's own memory */
bool dbk_subr_is_destructive(uint32_t id);

/** dbk_subr_name() - its D name */
const char *dbk_subr_name(uint32_t id);

/* subr_memory.c */
dbk_subr_fn dbk_subr_rand, dbk_subr_copyin, dbk_subr_copyinstr, dbk_subr_copyinto,
	dbk_subr_copyinargs,
	dbk_subr_progenyof, dbk_subr_speculation, dbk_subr_alloca, dbk_subr_bcopy,
	dbk_subr_getmajor, dbk_subr_getminor, dbk_subr_swap16, dbk_subr_swap32, dbk_subr_swap64,
	dbk_subr_copyout, dbk_subr_copyoutstr;
/* subr_kernel.c */
dbk_subr_fn dbk_subr_mutex_owned, dbk_subr_mutex_owner, dbk_subr_mutex_type_adaptive,
	dbk_subr_mutex_type_spin, dbk_subr_rw_read_held, dbk_subr_rw_write_held,
	dbk_subr_rw_iswriter, dbk_subr_d_path, dbk_subr_place;
/* subr_string.c */
dbk_subr_fn dbk_subr_strlen, dbk_subr_strjoin, dbk_subr_lltostr, dbk_subr_strchr, dbk_subr_strrchr,
	dbk_subr_strstr, dbk_subr_strtok, dbk_subr_substr, dbk_subr_index, dbk_subr_rindex,
	dbk_subr_toupper, dbk_subr_tolower, dbk_subr_strtoll;
/* subr_path.c */
dbk_subr_fn dbk_subr_basename, dbk_subr_dirname, dbk_subr_cleanpath;
/* subr_net.c */
dbk_subr_fn dbk_subr_inet_ntop, dbk_subr_inet_ntoa, dbk_subr_inet_ntoa6, dbk_subr_link_ntop;

/** dbk_subr_argument() - argument @index; the table's least count makes it there */
static __probe_ctx_inline uint64_t dbk_subr_argument(const struct dbk_cpu *cpu, uint32_t index)
{
	dbk_probe_assert(index < cpu->tuple_count);
	return cpu->tuple[index].value;
}

#endif /* DBK_ENGINE_SUBR_H */
