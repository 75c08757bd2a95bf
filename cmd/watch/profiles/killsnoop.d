/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killsnoop.d - calls of kill() and its like, with their outcome
 */
#pragma D option quiet

syscall::kill:entry,
syscall::tkill:entry,
syscall::tgkill:entry
/watched/
{
	self->whom = probefunc == "tgkill" ? arg1 : arg0;
	self->signal = probefunc == "tgkill" ? arg2 : arg1;
	self->calls = 1;
}

syscall::kill:return,
syscall::tkill:return,
syscall::tgkill:return
/self->calls/
{
	printf("%Y %d %s[%d]: signal %d to %d, errno %d\n", walltimestamp, uid, execname, pid,
	    (int)self->signal, (int)self->whom, errno);
	self->calls = self->whom = self->signal = 0;
}
