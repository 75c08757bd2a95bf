/* SPDX-License-Identifier: Apache-2.0 */
/* Every system call into the smallest ring a person would choose: most of it is overwritten. */
#pragma D option quiet
#pragma D option bufsize=256k
#pragma D option bufpolicy=ring

syscall:::entry
{
	printf("%d %d %s %s\n", cpu, timestamp, execname, probefunc);
}
