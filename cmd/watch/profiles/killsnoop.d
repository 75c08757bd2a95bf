/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killsnoop.d - calls of kill() and its like, with their outcome
 */
#pragma D option quiet

syscall::kill:entry,
syscall::tkill:entry,
syscall::rt_sigqueueinfo:entry,
syscall::pidfd_send_signal:entry
/watched/
{
	self->whom = arg0;
	self->signal = arg1;
	self->calls = 1;
}

syscall::tgkill:entry,
syscall::rt_tgsigqueueinfo:entry
/watched/
{
	self->whom = arg1;
	self->signal = arg2;
	self->calls = 1;
}

syscall::kill:return,
syscall::tkill:return,
syscall::tgkill:return,
syscall::rt_sigqueueinfo:return,
syscall::rt_tgsigqueueinfo:return,
syscall::pidfd_send_signal:return
/self->calls/
{
	printf("%Y %d %s[%d]: signal %d to %s%d, errno %d\n", walltimestamp, uid, execname, pid,
	    (int)self->signal, probefunc == "pidfd_send_signal" ? "descriptor " : "", (int)self->whom, errno);
	self->calls = self->whom = self->signal = 0;
}
