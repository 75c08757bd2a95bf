/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * callout_execute.h - provider callout_execute: what the kernel calls later, by FreeBSD's names
 *
 * The function says of what kind it is.  arg0 is the struct timer_list, hrtimer or work_struct, which at its end may be gone;
 * arg1 what it calls, which at the end only a work item has.
 */
DBK_PLACE(callout_execute, "vmlinux", "timer", "callout-start", "6.1+", TRACEPOINT, timer_expire_entry,
	  (struct timer_list *timer, unsigned long now), true, PASS(timer, timer->function))
DBK_PLACE(callout_execute, "vmlinux", "timer", "callout-end", "6.1+", TRACEPOINT, timer_expire_exit,
	  (struct timer_list *timer), true, PASS(timer, 0))
DBK_PLACE(callout_execute, "vmlinux", "hrtimer", "callout-start", "6.1+", TRACEPOINT, hrtimer_expire_entry,
	  (struct hrtimer *timer, ktime_t *now), true, PASS(timer, timer->function))
DBK_PLACE(callout_execute, "vmlinux", "hrtimer", "callout-end", "6.1+", TRACEPOINT, hrtimer_expire_exit,
	  (struct hrtimer *timer), true, PASS(timer, 0))
DBK_PLACE(callout_execute, "vmlinux", "work", "callout-start", "6.1+", TRACEPOINT, workqueue_execute_start,
	  (struct work_struct *work), true, PASS(work, work->func))
DBK_PLACE(callout_execute, "vmlinux", "work", "callout-end", "6.1+", TRACEPOINT, workqueue_execute_end,
	  (struct work_struct *work, work_func_t function), true, PASS(work, function))
