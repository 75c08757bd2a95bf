/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakeuptime.d - who ends whose sleep, and how long those slept, us
 *
 * A filter is of who wakes.  State 0 is a thread that could run and is preempted, 0x80 one that is dead; one that is
 * preempted as it goes to sleep counts as asleep.
 */
#pragma D option quiet

uint64_t left[uint64_t];

sched:::off-cpu
/pid != 0 && curthread->__state != 0 && (curthread->__state & 0x80) == 0/
{
	left[tid] = timestamp;
}

/* One that was not asleep is woken, too: it looked for something and found it. */
sched:::wakeup
/watched && left[args[0]->pr_lwpid]/
{
	@slept[execname, args[1]->pr_fname] = sum((timestamp - left[args[0]->pr_lwpid]) / 1000);
	@times[execname, args[1]->pr_fname] = count();
}

sched:::wakeup
/left[args[0]->pr_lwpid]/
{
	left[args[0]->pr_lwpid] = 0;
}

dtrace:::END
{
	printa("%-16s wakes %-16s slept %@12d us, %@8d times\n", @slept, @times);
}
