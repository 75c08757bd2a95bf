/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mountsnoop.d - file systems that are mounted and unmounted
 */
#pragma D option quiet

syscall::mount:entry
/watched/
{
	self->what = arg0;
	self->where = arg1;
}

syscall::umount2:entry
/watched/
{
	self->where = arg0;
}

syscall::mount:return
/self->where/
{
	printf("%Y %d %s[%d]: mount %s on %s, errno %d\n", walltimestamp, uid, execname, pid,
	    self->what ? copyinstr(self->what) : "none", copyinstr(self->where), errno);
}

syscall::mount:return
/self->where/
{
	self->what = self->where = 0;
}

syscall::umount2:return
/self->where/
{
	printf("%Y %d %s[%d]: umount %s, errno %d\n", walltimestamp, uid, execname, pid,
	    copyinstr(self->where), errno);
}

syscall::umount2:return
/self->where/
{
	self->where = 0;
}

syscall::move_mount:entry
/watched/
{
	self->where = arg3;
}

syscall::move_mount:return
/self->where/
{
	printf("%Y %d %s[%d]: move_mount on %s, errno %d\n", walltimestamp, uid, execname, pid,
	    copyinstr(self->where), errno);
}

syscall::move_mount:return
/self->where/
{
	self->where = 0;
}
