/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runqlat.d - how long threads that could run waited for a CPU, us
 *
 * It counts for the whole machine: the thread that waits is not the one that is running.
 */
#pragma D option quiet

uint64_t woken[uintptr_t];

sdt:vmlinux::sched_wakeup,
sdt:vmlinux::sched_wakeup_new
{
	woken[arg0] = timestamp;
}

/* One that is preempted waits as well; what woke it while it ran does not count. */
sdt:vmlinux::sched_switch
/pid != 0 && (args[0] || args[3] == 0)/
{
	woken[(uintptr_t)curthread] = timestamp;
}

sdt:vmlinux::sched_switch
/woken[(uintptr_t)args[2]]/
{
	@["us"] = quantize((timestamp - woken[(uintptr_t)args[2]]) / 1000);
	woken[(uintptr_t)args[2]] = 0;
}
