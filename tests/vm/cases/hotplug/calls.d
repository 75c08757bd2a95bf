/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shell's `umask N` is what each step of guest.sh calls, on a CPU that it chose.  The one speculation
 * is filled on a CPU that goes, and discarded on another: what it held must not come back with the CPU.
 */
#pragma D option quiet
#pragma D option switchrate=10hz

BEGIN { printf("READY\n"); }

syscall::umask:entry
/arg0 == 01/
{
	printf("CALL %d\n", cpu);
	@[cpu] = count();
}

syscall::umask:entry
/arg0 == 02/
{
	spec = speculation();
	speculate(spec);
	printf("STALE\n");
}

syscall::umask:entry
/arg0 == 03 && spec/
{
	discard(spec);
	spec = 0;
}

syscall::umask:entry
/arg0 == 04 && !spec/
{
	spec = speculation();
}

syscall::umask:entry
/arg0 == 04 && spec/
{
	printf("CLEANED\n");
}

syscall::umask:entry
/arg0 == 05/
{
	speculate(spec);
	printf("FRESH\n");
}

syscall::umask:entry
/arg0 == 06/
{
	commit(spec);
}

syscall::umask:entry
/arg0 == 06/
{
	printf("COMMITTED\n");
}

END
{
	printa("COUNT %d %@d\n", @);
}
