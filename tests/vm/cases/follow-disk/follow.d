/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of the workload leaves a line, and the ring holds a few seconds of them. */
#pragma D option quiet
#pragma D option bufsize=4m
#pragma D option bufpolicy=ring

syscall::getppid:entry
/execname == "workload"/
{
	printf("CALL %d %d\n", cpu, timestamp);
}
