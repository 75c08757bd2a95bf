/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow-requests.d - everything a program did during its slow reads, and nothing of the fast ones
 *
 * Tail sampling: each read(2) of a process begins a speculation, and what the
 * thread does until it returns is speculated.  Only when the read took longer than
 * 10 ms is it committed; else it is thrown away before it ever takes room in the
 * ring.  The records keep their own times: print with --temporal to have them where
 * they happened, among what other CPUs recorded.
 *
 *     daybreak compile -s slow-requests.d -o slow.dof
 *     daybreak embed slow.dof --module daybreak.ko -o traced.ko
 *     ... after the boot: daybreak record --claim -o slow.dbrk
 *     daybreak report --temporal slow.dbrk
 */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=1m
#pragma D option nspec=64
#pragma D option specsize=8k
#pragma D option cleanrate=100hz

syscall::read:entry
{
	self->from = timestamp;
	self->spec = speculation();
}

/* 0 when all 64 are taken: then nothing of this read is seen, and a drop says so. */
syscall::read:entry
/self->spec/
{
	speculate(self->spec);
	printf("%s[%d] read(%d, %d bytes)\n", execname, tid, arg0, arg2);
}

sdt:vmlinux::sched_switch
/self->spec/
{
	speculate(self->spec);
	printf("%s[%d] off the CPU at %d us\n", execname, tid, (timestamp - self->from) / 1000);
}

syscall::read:return
/self->spec/
{
	speculate(self->spec);
	printf("%s[%d] read %d bytes in %d us\n", execname, tid, arg1,
	    (timestamp - self->from) / 1000);
}

syscall::read:return
/self->spec && timestamp - self->from > 10000000/
{
	commit(self->spec);
	self->spec = 0;
}

syscall::read:return
/self->spec/
{
	discard(self->spec);
	self->spec = 0;
}

syscall::read:return
{
	self->from = 0;
}
