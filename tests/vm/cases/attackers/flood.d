/* SPDX-License-Identifier: Apache-2.0 */
/* Whose keys, names and strings are any user's to choose. They are read at the end only: the tables stay full. */
#pragma D option quiet
#pragma D option aggrate=3600s
#pragma D option aggsize=512k
#pragma D option dynvarsize=256k

syscall::openat:entry
{
	@opened[copyinstr(arg1)] = count();
}

syscall::getppid:entry
{
	last[execname] = timestamp;
	@called[execname] = count();
}

syscall::getppid:entry
{
	self->calls++;
}

BEGIN
{
	printf("go\n");
}
