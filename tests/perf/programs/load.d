/* SPDX-License-Identifier: Apache-2.0 */
/* Every system call with its arguments and what it returned, and who gave the processor to whom. */
#pragma D option bufsize=64m
#pragma D option quiet

syscall:::entry
{
	trace(arg0); trace(arg1); trace(arg2); trace(arg3); trace(arg4); trace(arg5);
}

syscall:::return
{
	trace(arg1);
}

sched:::off-cpu
{
	trace(execname); trace(pid); trace(args[1]->pr_fname); trace(args[0]->pr_lwpid);
}

sched:::wakeup
{
	trace(args[1]->pr_fname); trace(args[0]->pr_lwpid);
}
