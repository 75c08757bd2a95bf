/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boot.d - what happened while the machine booted
 *
 * Embedded into daybreak.ko, this is active before the first program of the system runs.  It answers
 * five questions: who was executed when, how many system calls each program made, how much a read()
 * brings, how long an openat() takes, and where in the kernel the time went.  ./quickstart runs it.
 */
#pragma D option quiet
#pragma D option bufsize=16m
#pragma D option aggsortrev	/* the most first */

/* The first record: nothing in userspace is older. */
dtrace:::BEGIN
{
	start = timestamp;
	printf("%9s %7s  %-16s %s\n", "SECONDS", "PID", "STARTED BY", "COMMAND LINE");
}

/* Who was executed when, with which arguments.  curthread is the kernel's task_struct, typed by the kernel's own BTF. */
proc:::exec-success
{
	this->ms = (timestamp - start) / 1000000;
	printf("%5d.%03d %7d  %-16s %s\n", this->ms / 1000, this->ms % 1000, pid,
	    stringof(curthread->real_parent->comm), curpsinfo->pr_psargs);
}

/* The recorder is started once the system is up, so its start is the end of the boot. */
proc:::exec-success
/execname == "daybreak"/
{
	printf("\nmulti-user %d ms after the first record\n", (timestamp - start) / 1000000);
}

/* System calls by program. */
syscall:::entry
{
	@calls[execname] = count();
}

/* How much a read() brings.  In a return probe, arg0 is what the call returned. */
syscall::read:return
/errno == 0/
{
	@bytes["bytes returned by read()"] = quantize(arg0);
}

/* How long an openat() takes.  self-> is a variable of the thread. */
syscall::openat:entry
{
	self->opened = timestamp;
}

syscall::openat:return
/self->opened/
{
	@opened["nanoseconds in openat()"] = quantize(timestamp - self->opened);
	self->opened = 0;
}

/* Where in the kernel the time goes: its stack, 97 times a second.  arg0 is 0 in userspace. */
profile:::profile-97
/arg0 && pid != 0/
{
	@stacks[stack(6)] = count();
}

dtrace:::END
{
	printf("\nsystem calls by program, the busiest ten\n");
	trunc(@calls, 10);
	printa("  %-18s %@10d\n", @calls);
	printa(@bytes);
	printa(@opened);
	printf("\nwhere in the kernel the time went, the five most frequent stacks\n");
	trunc(@stacks, 5);
	printa(@stacks);
}
