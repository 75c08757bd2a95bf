/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opens.d - which program opens what, and what came of it
 *
 * A path is copied at return: at entry its page may not be in memory yet, and a probe cannot wait for it. By then
 * the kernel has read it.
 */
#pragma D option quiet

syscall::openat:entry
{
	self->path = arg1;
}

syscall::openat:return
/self->path/
{
	printf("%-16s %6d %4d  %s\n", execname, pid, (int)arg1, copyinstr(self->path));
	self->path = 0;
}
