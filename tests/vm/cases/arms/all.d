/* SPDX-License-Identifier: Apache-2.0 */
/* Every function, its call and its return; those of the witness that it knows the number of. */
#pragma D option quiet
#pragma D option bufsize=64k

BEGIN { printf("READY\n"); }

fbt:::entry, fbt:::return { @all = count(); }

fbt:vmlinux:__x64_sys_getppid:entry, fbt:vmlinux:__x64_sys_getppid:return
/execname == "witness"/
{
	@known[probename] = count();
}

END
{
	printa("FIRED %@d\n", @all);
	printa("KNOWN %s %@d\n", @known);
}
