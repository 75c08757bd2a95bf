/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* subr.c - the table of subroutines; see subr.h */
#include "engine/run/subr.h"

struct subr {
	dbk_subr_fn *run;   /* NULL: not offered */
	uint32_t arguments; /* at least */
};

/* Not here: what asks about streams and device nodes, which Linux does not have. */
static const struct subr subrs[DIF_SUBR_MAX + 1] = {
	[DIF_SUBR_RAND] = {dbk_subr_rand, 0},
	[DIF_SUBR_MUTEX_OWNED] = {dbk_subr_mutex_owned, 1},
	[DIF_SUBR_MUTEX_OWNER] = {dbk_subr_mutex_owner, 1},
	[DIF_SUBR_MUTEX_TYPE_ADAPTIVE] = {dbk_subr_mutex_type_adaptive, 1},
	[DIF_SUBR_MUTEX_TYPE_SPIN] = {dbk_subr_mutex_type_spin, 1},
	[DIF_SUBR_RW_READ_HELD] = {dbk_subr_rw_read_held, 1},
	[DIF_SUBR_RW_WRITE_HELD] = {dbk_subr_rw_write_held, 1},
	[DIF_SUBR_RW_ISWRITER] = {dbk_subr_rw_iswriter, 1},
	[DIF_SUBR_COPYOUT] = {dbk_subr_copyout, 3},
	[DIF_SUBR_COPYOUTSTR] = {dbk_subr_copyoutstr, 3},
	[DIF_SUBR_D_PATH] = {dbk_subr_d_path, 1},
	[DIF_SUBR_COPYIN] = {dbk_subr_copyin, 2},
	[DIF_SUBR_COPYINSTR] = {dbk_subr_copyinstr, 1},
	[DIF_SUBR_COPYINARGS] = {dbk_subr_copyinargs, 3},
	[DIF_SUBR_SPECULATION] = {dbk_subr_speculation, 0},
	[DIF_SUBR_PROGENYOF] = {dbk_subr_progenyof, 1},
	[DIF_SUBR_STRLEN] = {dbk_subr_strlen, 1},
	[DIF_SUBR_ALLOCA] = {dbk_subr_alloca, 1},
	[DIF_SUBR_BCOPY] = {dbk_subr_bcopy, 3},
	[DIF_SUBR_COPYINTO] = {dbk_subr_copyinto, 3},
	[DIF_SUBR_GETMAJOR] = {dbk_subr_getmajor, 1},
	[DIF_SUBR_GETMINOR] = {dbk_subr_getminor, 1},
	[DIF_SUBR_STRJOIN] = {dbk_subr_strjoin, 2},
	[DIF_SUBR_LLTOSTR] = {dbk_subr_lltostr, 1},
	[DIF_SUBR_BASENAME] = {dbk_subr_basename, 1},
	[DIF_SUBR_DIRNAME] = {dbk_subr_dirname, 1},
	[DIF_SUBR_CLEANPATH] = {dbk_subr_cleanpath, 1},
	[DIF_SUBR_STRCHR] = {dbk_subr_strchr, 2},
	[DIF_SUBR_STRRCHR] = {dbk_subr_strrchr, 2},
	[DIF_SUBR_STRSTR] = {dbk_subr_strstr, 2},
	[DIF_SUBR_STRTOK] = {dbk_subr_strtok, 2},
	[DIF_SUBR_SUBSTR] = {dbk_subr_substr, 2},
	[DIF_SUBR_INDEX] = {dbk_subr_index, 2},
	[DIF_SUBR_RINDEX] = {dbk_subr_rindex, 2},
	[DIF_SUBR_HTONS] = {dbk_subr_swap16, 1},
	[DIF_SUBR_HTONL] = {dbk_subr_swap32, 1},
	[DIF_SUBR_HTONLL] = {dbk_subr_swap64, 1},
	[DIF_SUBR_NTOHS] = {dbk_subr_swap16, 1},
	[DIF_SUBR_NTOHL] = {dbk_subr_swap32, 1},
	[DIF_SUBR_NTOHLL] = {dbk_subr_swap64, 1},
	[DIF_SUBR_INET_NTOP] = {dbk_subr_inet_ntop, 2},
	[DIF_SUBR_INET_NTOA] = {dbk_subr_inet_ntoa, 1},
	[DIF_SUBR_INET_NTOA6] = {dbk_subr_inet_ntoa6, 1},
	[DIF_SUBR_LINK_NTOP] = {dbk_subr_link_ntop, 2},
	[DIF_SUBR_TOUPPER] = {dbk_subr_toupper, 1},
	[DIF_SUBR_TOLOWER] = {dbk_subr_tolower, 1},
	[DIF_SUBR_STRTOLL] = {dbk_subr_strtoll, 1},
#ifdef dbk_host_place
	[DIF_SUBR_PLACE] = {dbk_subr_place, 2},
#endif
};

static const char *const names[DIF_SUBR_MAX + 1] = {
#define SUBR(name, id, text) [id] = text,
	DBK_DIF_SUBRS(SUBR)
#undef SUBR
};

bool dbk_subr_offered(uint32_t id)
{
	return subrs[id].run != NULL;
}

bool dbk_subr_is_destructive(uint32_t id)
{
	return id == DIF_SUBR_COPYOUT || id == DIF_SUBR_COPYOUTSTR;
}

const char *dbk_subr_name(uint32_t id)
{
	return names[id];
}

__probe_ctx uint64_t dbk_subr(struct dbk_cpu *cpu, uint32_t id)
{
	/* How many were pushed is known only here. */
	if (cpu->tuple_count < subrs[id].arguments)
		return dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	return subrs[id].run(cpu);
}
