/* SPDX-License-Identifier: Apache-2.0 */
/* What each CPU counted, and enough besides that segments are opened and sealed all the time. */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=256k

syscall::getppid:entry
/execname == "counter"/
{
	printf("%d %d %d %d\n", cpu, arg2, arg0, arg1);
}

profile-199
{
	stack(4);
}
