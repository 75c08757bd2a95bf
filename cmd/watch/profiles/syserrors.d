/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syserrors.d - system calls that fail, by program, call and errno
 */
#pragma D option quiet

syscall:::return
/watched && errno != 0/
{
	@[execname, probefunc, errno] = count();
}

dtrace:::END
{
	printa("%-16s %-24s errno %3d %@10d\n", @);
}
