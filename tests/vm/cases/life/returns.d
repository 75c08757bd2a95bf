/* SPDX-License-Identifier: Apache-2.0 */
/* Functions to their return: values, nesting, callers; and very many of them. */
#pragma D option quiet
#pragma D option bufsize=16m

fbt:vmlinux:vfs_write:entry
/execname == "workload"/
{
	self->asked = arg2;
	@entries["vfs_write"] = count();
}

fbt:vmlinux:vfs_write:return
/execname == "workload"/
{
	@returns["vfs_write"] = count();
	@values[arg0 == -1, arg1 == self->asked] = count();
	@stacks[stack(3)] = count();
	@callers[caller] = count();
}

fbt:vmlinux:vfs_*:return, fbt:vmlinux:tcp_*:return, fbt:vmlinux:do_*:return, fbt:vmlinux:schedule*:return
{
	@all[probefunc] = count();
}

profile:::profile-997
/arg0 != 0/
{
	@profile[arg1 == 0, arg0, stack(2)] = count();
}

dtrace:::END
{
	printa("ENTRIES %s %@d\n", @entries);
	printa("RETURNS %s %@d\n", @returns);
	printa("VALUES %d %d %@d\n", @values);
	printa("STACK%k%@d\n", @stacks);
	printa("PROFILE %d %a%k%@d\n", @profile);
	printa("CALLER %a %@d\n", @callers);
	printa("ALL %s %@d\n", @all);
}
