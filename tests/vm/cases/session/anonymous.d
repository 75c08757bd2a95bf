/* SPDX-License-Identifier: Apache-2.0 */
/* Traced before anybody asks; a fault that names its line. */
#pragma D option quiet
#pragma D option bufsize=1m
#pragma D option bufpolicy=switch
#pragma D option switchrate=20hz

int *nowhere;

syscall::getppid:entry
/execname == "workload"/
{
	@calls = count();
}

syscall::getppid:entry
/execname == "workload" && !done/
{
	done = 1;
	printf("here\n");
}

syscall::getppid:entry
/done == 1 && execname == "workload"/
{
	done = 2;
	trace(*nowhere);
}

dtrace:::END
{
	printa("CALLS %@d\n", @calls);
}
