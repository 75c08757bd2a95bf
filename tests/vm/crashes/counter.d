/* SPDX-License-Identifier: Apache-2.0 */
/* What each CPU counted, and enough besides that segments are opened and sealed all the time: by a probe that
   no busy host can delay past its next firing, as it does profile-199 (a drop, and exit status 3). */
#pragma D option quiet
#pragma D option destructive
#pragma D option bufpolicy=ring
#pragma D option bufsize=512k

syscall::getppid:entry
/execname == "counter"/
{
	printf("%d %d %d %d\n", cpu, arg2, arg0, arg1);
}

sched:::off-cpu
{
	printf("-\n");
}

sdt:::local_timer_entry
{
	stack(4);
}

proc:::exec-success
/execname == "die"/
{
	panic();
}
