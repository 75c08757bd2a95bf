/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakeuptime.d - who wakes whom
 */
#pragma D option quiet

sched:::wakeup
/watched/
{
	@[execname, args[1]->pr_fname] = count();
}

dtrace:::END
{
	printa("%-16s wakes %-16s %@10d\n", @);
}
