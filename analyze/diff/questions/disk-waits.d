/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk-waits.d - who waited for disks and locks, us
 *
 * A thread waits from when it leaves its CPU in a state that takes no signals, to when it is given
 * one again.  Asks for: (uintptr_t)curthread, execname and arg0 at sched:::off-cpu, the first two
 * of those that begin to wait.
 */
#pragma D option quiet
#pragma D option aggsortrev

sched:::off-cpu
{
	left[(uintptr_t)curthread] = timestamp;
	name[(uintptr_t)curthread] = execname;
}

sched:::off-cpu
/left[arg0]/
{
	@waited[name[arg0]] = sum((timestamp - left[arg0]) / 1000);
	left[arg0] = 0;
}

dtrace:::END
{
	trunc(@waited, 5);
	printa("  %@9d  %s\n", @waited);
}
