/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * own_path.h - functions of the kernel that fbt leaves out
 *
 * The probe path calls them itself: their probes would only ever count nested
 * firings.  The module does not make them, and `list --kernel` does not list them.
 *
 * A kernel that checks the use of RCU (CONFIG_PROVE_RCU) asks those from rcu_read_lock_held() on each time
 * that a function is called or returns whose return is probed: probes of them would be without end.  When the
 * last two return, RCU does not watch the CPU any more.
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
	X(orc_find)                                                                                \
	X(__orc_find)                                                                              \
	X(rcu_read_lock_held)                                                                      \
	X(rcu_read_lock_any_held)                                                                  \
	X(rcu_read_lock_held_common)                                                               \
	X(rcu_lockdep_current_cpu_online)                                                          \
	X(rcu_rdp_cpu_online)                                                                      \
	X(rcu_rnp_online_cpus)                                                                     \
	X(rcu_report_dead)                                                                         \
	X(rcutree_report_cpu_dead)

#endif /* DBK_ABI_OWN_PATH_H */
