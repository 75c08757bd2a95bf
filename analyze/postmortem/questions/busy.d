/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.d - who had the CPUs in the last seconds, us
 *
 * $1 is the time of the end, CLOCK_MONOTONIC, and $2 how many ns before it the last seconds begin.  Process 0 is
 * an idle CPU.  Asks for pid and execname at sched:::off-cpu.
 */
#pragma D option quiet

uint64_t since[int];

/* Added, not taken away: a machine may have died before it had run for so long. */
sched:::off-cpu
/since[cpu] && timestamp + $2 > $1/
{
	@us[cpu, pid, execname] = sum((timestamp - (since[cpu] + $2 > $1 ? since[cpu] : $1 - $2)) / 1000);
}

sched:::off-cpu
{
	since[cpu] = timestamp;
}
