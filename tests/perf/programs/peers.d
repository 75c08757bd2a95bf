/* SPDX-License-Identifier: Apache-2.0 */
/* What the other tracers record of the load too: system calls, what they return, and switches of context. */
#pragma D option bufsize=64m
#pragma D option quiet
#pragma D option aggregate=record

syscall:::entry, syscall:::return, sched:::off-cpu
{
	@[execname, probefunc] = count();
}
