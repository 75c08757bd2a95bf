/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * counters.h - events that provider cpc counts: cpc:::EVENT-MODE-N (docs/probes.md)
 *
 * X(EVENT, its type and number for perf_event_open(2), the least N, the modes in which it happens).  What a processor counts often
 * is not to fire often: as elsewhere 5000 is the least.  Y(EVENT, why no machine has it).
 */
#ifndef DBK_ABI_COUNTERS_H
#define DBK_ABI_COUNTERS_H

#define DBK_COUNTED_KERNEL 1
#define DBK_COUNTED_USER   2
#define DBK_COUNTED_ALL	   4
#define DBK_COUNTED_ANY	   7
/* The scheduler's: of a thread that runs in the kernel. */
#define DBK_COUNTED_NOT_USER (DBK_COUNTED_KERNEL | DBK_COUNTED_ALL)

#define DBK_COUNTERS(X)                                                                            \
	X(cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 5000, DBK_COUNTED_ANY) \
	X(instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 5000, DBK_COUNTED_ANY) \
	X(cache_references, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 5000, DBK_COUNTED_ANY) \
	X(cache_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 5000, DBK_COUNTED_ANY) \
	X(branch_instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 5000, DBK_COUNTED_ANY) \
	X(branch_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 5000, DBK_COUNTED_ANY) \
	X(bus_cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, 5000, DBK_COUNTED_ANY) \
	X(stalled_cycles_frontend, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 5000, DBK_COUNTED_ANY) \
	X(stalled_cycles_backend, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 5000, DBK_COUNTED_ANY) \
	X(ref_cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 5000, DBK_COUNTED_ANY) \
	X(page_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, DBK_COUNTED_ANY) \
	X(minor_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, DBK_COUNTED_ANY) \
	X(major_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, DBK_COUNTED_ANY) \
	X(context_switches, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, DBK_COUNTED_NOT_USER) \
	X(cpu_migrations, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1, DBK_COUNTED_NOT_USER)

#define DBK_NO_COUNTERS(Y)                                                                         \
	Y(alignment_faults, "the kernel does not count them on x86")                               \
	Y(emulation_faults, "the kernel does not count them on x86")

#endif /* DBK_ABI_COUNTERS_H */
