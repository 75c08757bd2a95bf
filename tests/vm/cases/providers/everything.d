/* SPDX-License-Identifier: Apache-2.0 */
/* A probe of each provider, all system calls, all tracepoints. */
#pragma D option bufsize=256k

syscall:::
{
	@[probefunc] = count();
}

sdt:::
{
	@[probename] = count();
}

fbt:vmlinux:vfs_*:entry
{
	@[stack(3)] = count();
}

proc:::, profile:::profile-997, profile:::tick-1ms
{
	trace(arg0);
}
