/* SPDX-License-Identifier: Apache-2.0 */
/* When the first programs ran, and that a probe of each provider fires, one of a later module too. */
#pragma D option quiet

dtrace:::BEGIN
{
	printf("BEGIN %d\n", timestamp);
}

proc:::exec-success
{
	printf("EXEC %d %d %s\n", timestamp, pid, execname);
	@fired["proc:exec-success"] = count();
}

proc:::create
{
	@fired["proc:create"] = count();
}

proc:::exit
{
	@fired["proc:exit"] = count();
}

syscall::openat:entry
{
	@fired["syscall:entry"] = count();
}

syscall::openat:return
/errno == 0/
{
	@fired["syscall:return"] = count();
}

sdt:vmlinux::sched_switch
{
	@fired["sdt"] = count();
}

/* This module is loaded after the enabling was armed. */
sdt:9pnet::9p_client_req
{
	@fired["sdt-of-a-later-module"] = count();
}

fbt:vmlinux:vfs_read:entry
{
	@fired["fbt"] = count();
}

profile:::profile-197
{
	@fired["profile"] = count();
}

profile:::tick-97
{
	@fired["tick"] = count();
}

dtrace:::END
{
	printa("FIRED %s %@d\n", @fired);
	printf("END %d\n", timestamp);
}
