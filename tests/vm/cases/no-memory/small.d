/* SPDX-License-Identifier: Apache-2.0 */
/* One of each that needs memory: variables, aggregations, speculations, a timer, functions, a waiting probe. */
#pragma D option bufsize=64k
#pragma D option aggsize=64k
#pragma D option nspec=2
#pragma D option dynvarsize=64k

syscall::getppid:entry
{
	self->start = timestamp;
	named[execname] = pid;
	trace(execname);
}

syscall::getppid:return
/self->start/
{
	@[execname, probefunc] = quantize(timestamp - self->start);
	self->start = 0;
	self->spec = speculation();
}

fbt::vfs_read:entry, fbt::vfs_read:return, sched:::off-cpu, proc:::exit { stack(4); }
profile-97 { @samples[execname] = count(); }
