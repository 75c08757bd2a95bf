/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of each provider: all system calls, and what fires often. */
#pragma D option bufsize=256k

syscall:::
{
	@[probefunc] = count();
}

sdt:::sched_*, sdt:::irq_handler_*, sdt:::kmem_cache_*
{
	@[probename] = count();
}

fbt:vmlinux:vfs_*:entry
{
	@stacks[stack(3)] = count();
}

proc:::, profile:::profile-997, profile:::tick-1ms
{
	trace(arg0);
}
