/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chmodsnoop.d - files whose mode or owner is changed
 *
 * A path is copied at return: at entry its page may not be in memory yet.
 */
#pragma D option quiet

syscall::chmod:entry,
syscall::chown:entry,
syscall::lchown:entry
/watched/
{
	self->path = arg0;
	self->value = arg1;
}

syscall::fchmodat:entry,
syscall::fchownat:entry
/watched/
{
	self->path = arg1;
	self->value = arg2;
}

syscall::chmod:return,
syscall::chown:return,
syscall::lchown:return,
syscall::fchmodat:return,
syscall::fchownat:return
/self->path/
{
	printf("%Y %d %s[%d]: %s %s to 0%o, errno %d\n", walltimestamp, uid, execname, pid,
	    probefunc, copyinstr(self->path), self->value, errno);
	self->path = self->value = 0;
}
