/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.d - who had the CPUs in the last seconds, us
 *
 * $1 is the time of the end, CLOCK_MONOTONIC, and $2 how many ns before it the last seconds begin.  Process 0 is
 * an idle CPU.  Who is given a CPU has it to the end, until it leaves it: then the rest is taken away again.  Asks for
 * pid, execname, args[1]->pr_pid and stringof(args[1]->pr_fname) at sched:::off-cpu.
 */
#pragma D option quiet

uint64_t since[int];
pid_t has[int];
string name[int];

/* Added, not taken away: a machine may have died before it had run for so long. */
sched:::off-cpu
/since[cpu]/
{
	this->from = since[cpu] + $2 > $1 ? since[cpu] : $1 - $2;
	@us[cpu, has[cpu], name[cpu]] = sum(-(int64_t)(($1 - this->from) / 1000));
	@us[cpu, pid, execname] = sum(timestamp > this->from ? (timestamp - this->from) / 1000 : 0);
}

sched:::off-cpu
{
	since[cpu] = timestamp;
	has[cpu] = args[1]->pr_pid;
	name[cpu] = stringof(args[1]->pr_fname);
	@us[cpu, has[cpu], name[cpu]] = sum(($1 - (timestamp + $2 > $1 ? timestamp : $1 - $2)) / 1000);
}
