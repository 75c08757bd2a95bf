/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run-queue.d - who wakes whom, and how long the woken wait for a CPU
 *
 * sched:::wakeup fires in the waker, its argument is the sleeper's thread; sched:::off-cpu fires in
 * the thread that leaves a CPU, its argument is the thread that comes.
 */
#pragma D option quiet

uint64_t woken[uintptr_t];

sched:::wakeup
{
	woken[arg0] = timestamp;
	@wakeups[execname, args[1]->pr_fname] = count();
}

sched:::off-cpu
/woken[arg0]/
{
	@us[args[1]->pr_fname] = quantize((timestamp - woken[arg0]) / 1000);
	woken[arg0] = 0;
}

dtrace:::END
{
	printf("%-16s %-16s %10s\n", "WAKER", "SLEEPER", "TIMES");
	trunc(@wakeups, 8);
	printa("%-16s %-16s %@10d\n", @wakeups);
	trunc(@us, 3);
	printa("\n%s waited for a CPU, us%@d\n", @us);
}
