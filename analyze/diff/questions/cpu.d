/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu.d - how much CPU time the processes had used that ended, us together
 *
 * The kernel's own account, of the main thread and of threads that ended before it.  Asks for execname, unit and
 * curthread->se.sum_exec_runtime + curthread->signal->sum_sched_runtime at proc:::exit.
 */
#pragma D option quiet
#pragma D option aggsortrev

proc:::exit
{
	@us[execname, unit] = sum((curthread->se.sum_exec_runtime + curthread->signal->sum_sched_runtime) / 1000);
}

dtrace:::END
{
	trunc(@us, 5);
	printa("  %@9d  %-16s %s\n", @us);
}
