/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfs-latency.d - how long reads and writes take inside of the kernel, by program
 *
 * fbt probes are at the entry and the return of the kernel's functions.  vfs_read() and vfs_write()
 * stand under all file systems, pipes and devices.
 */
#pragma D option quiet

fbt:vmlinux:vfs_read:entry, fbt:vmlinux:vfs_write:entry
{
	self->start = timestamp;
}

fbt:vmlinux:vfs_read:return, fbt:vmlinux:vfs_write:return
/self->start/
{
	@ns[execname, probefunc] = quantize(timestamp - self->start);
	self->start = 0;
}

dtrace:::END
{
	printa("%s in %s(), ns%@d\n", @ns);
}
