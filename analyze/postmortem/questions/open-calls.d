/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open-calls.d - which system calls had not returned, and for how long, us
 *
 * What a call adds when it begins it takes away when it ends, so that those are left that did not; those of
 * threads that were killed are among them.  A thread that makes a call has returned from the one before, whose
 * return may be lost.  $1 is the time of the end, CLOCK_MONOTONIC.  Asks for pid, tid and execname at the entries
 * and returns of system calls; postmortem leaves out calls whose returns were not recorded.
 */
#pragma D option quiet

self uint64_t began;
self string call;
self string name;

syscall:::entry
/self->began/
{
	@us[self->name, pid, tid, self->call] = sum(-(($1 - self->began) / 1000));
	self->began = 0;
}

syscall:::entry
/probefunc != "exit" && probefunc != "exit_group"/
{
	self->began = timestamp;
	self->call = probefunc;
	self->name = execname;
	@us[execname, pid, tid, probefunc] = sum(($1 - timestamp) / 1000);
}

syscall:::return
/self->began && self->call == probefunc/
{
	@us[self->name, pid, tid, probefunc] = sum(-(($1 - self->began) / 1000));
	self->began = 0;
}
