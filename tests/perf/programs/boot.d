/* SPDX-License-Identifier: Apache-2.0 */
/* What ftrace's row of boot-cost records as well: programs, opened files, requests to disks, and who runs. */
#pragma D option bufsize=4m

proc:::exec-success
{
	trace(pid);
	trace(execname);
}

proc:::exit
{
	trace(pid);
	trace(execname);
}

syscall::openat:entry
{
	trace(arg0);
	trace(arg1);
	trace(arg2);
	trace(arg3);
}

syscall::openat:return
{
	trace(arg0);
}

sdt:vmlinux::block_rq_issue,
sdt:vmlinux::block_rq_complete
{
	trace(arg0);
}

sched:::off-cpu
{
	trace(pid);
	trace(execname);
	trace(args[0]->pr_lwpid);
}
