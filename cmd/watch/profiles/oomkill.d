/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oomkill.d - processes that are killed because memory ran out
 *
 * It is of the whole machine: who asks for memory need not be who is killed.
 */
#pragma D option quiet

fbt:vmlinux:oom_kill_process:entry
{
	printf("%Y %s[%d] asked, killed: %s[%d]\n", walltimestamp, execname, pid,
	    stringof(args[0]->chosen->comm), args[0]->chosen->tgid);
}
