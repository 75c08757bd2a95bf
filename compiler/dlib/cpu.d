/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What curcpu points to.  The engine keeps it for each CPU: struct dbk_cpuinfo of engine/types/internal.h.
 */

typedef int processorid_t;
typedef int psetid_t;
typedef int chipid_t;
typedef int lgrp_id_t;

typedef struct cpuinfo {
	processorid_t cpu_id;	/* the kernel's number of it */
	psetid_t cpu_pset;	/* always 0: Linux has cpusets, which are no processor sets */
	chipid_t cpu_chip;	/* package; -1: not known */
	lgrp_id_t cpu_lgrp;	/* memory node; -1: not known */
} cpuinfo_t;
