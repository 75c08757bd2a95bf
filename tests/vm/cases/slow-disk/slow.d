/* SPDX-License-Identifier: Apache-2.0 */
/* More than the disk can take: what compresses badly, too. */
#pragma D option quiet
#pragma D option bufsize=2m
#pragma D option bufpolicy=ring

syscall:::entry
/execname == "workload"/
{
	printf("CALL %d %d %d\n", timestamp, rand(), rand());
}
