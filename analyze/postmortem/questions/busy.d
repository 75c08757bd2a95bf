/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.d - who had the CPUs in the last seconds, us
 *
 * $1 is the time of the end, CLOCK_MONOTONIC, and $2 how many ns before it the last seconds begin.  Process 0 is
 * an idle CPU.  Asks for pid and execname at sched:::off-cpu.
 */
#pragma D option quiet

uint64_t since[int];

sched:::off-cpu
/since[cpu] && timestamp > $1 - $2/
{
	@us[cpu, pid, execname] = sum((timestamp - since[cpu]) / 1000);
}

sched:::off-cpu
{
	since[cpu] = timestamp;
}
