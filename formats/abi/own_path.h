/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * own_path.h - functions of the kernel that fbt leaves out
 *
 * The probe path calls them itself: their probes would only ever count nested
 * firings.  The module does not make them, and `list --kernel` does not list them.
 */
#ifndef DBK_ABI_OWN_PATH_H
#define DBK_ABI_OWN_PATH_H

#define DBK_OWN_PATH(X)                                                                            \
	X(copy_from_kernel_nofault)                                                                \
	X(copy_from_kernel_nofault_allowed)                                                        \
	X(copy_from_user_nofault)                                                                  \
	X(ktime_get_mono_fast_ns)                                                                  \
	X(ktime_get_real_fast_ns)                                                                  \
	X(sched_clock_cpu)                                                                         \
	X(unwind_next_frame)                                                                       \
	X(unwind_get_return_address)                                                               \
	X(__unwind_start)                                                                          \
	X(orc_find)

#endif /* DBK_ABI_OWN_PATH_H */
