/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capable.d - capabilities that are asked for, and whether they are there
 */
#pragma D option quiet

fbt:vmlinux:cap_capable:entry
/watched/
{
	self->capability = args[2] + 1;
}

fbt:vmlinux:cap_capable:return
/self->capability/
{
	printf("%Y %d %s[%d]: capability %d %s\n", walltimestamp, uid, execname, pid,
	    self->capability - 1, (int)arg1 == 0 ? "granted" : "denied");
	self->capability = 0;
}
