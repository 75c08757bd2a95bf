/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * counters.h - events that provider cpc counts: cpc:::EVENT-MODE-N (docs/probes.md)
 *
 * X(EVENT, its type and number for perf_event_open(2), the least N).  What a processor counts often is not to fire often: as
 * elsewhere 5000 is the least.
 */
#ifndef DBK_ABI_COUNTERS_H
#define DBK_ABI_COUNTERS_H

#define DBK_COUNTERS(X)                                                                            \
	X(cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 5000)                              \
	X(instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 5000)                      \
	X(cache_references, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 5000)              \
	X(cache_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 5000)                      \
	X(branch_instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 5000)        \
	X(branch_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 5000)                    \
	X(bus_cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, 5000)                          \
	X(stalled_cycles_frontend, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 5000) \
	X(stalled_cycles_backend, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 5000)  \
	X(ref_cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, 5000)                      \
	X(page_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1)                           \
	X(minor_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 1)                      \
	X(major_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1)                      \
	X(alignment_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1)                 \
	X(context_switches, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1)                 \
	X(cpu_migrations, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1)

#endif /* DBK_ABI_COUNTERS_H */
