/* SPDX-License-Identifier: Apache-2.0 */
/* Enough probes that one is always in the middle of firing. */
#pragma D option bufsize=1m

syscall:::entry, syscall:::return
{
	@[execname, probefunc] = count();
}

fbt:vmlinux:vfs_*:entry, sdt:vmlinux::sched_switch
{
	@fired[probefunc] = count();
}

profile:::profile-997
{
	@stacks[stack(5)] = count();
}
