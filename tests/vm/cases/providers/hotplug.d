/* SPDX-License-Identifier: Apache-2.0 */
/* Timers on every CPU; tracepoints and functions of a module that is not there yet. */
#pragma D option quiet
#pragma D option bufsize=256k

profile:::profile-97
{
	@ticks["profile", cpu] = count();
}

profile:::tick-97
{
	@ticks["tick", cpu] = count();
}

sdt:jbd2::, fbt:jbd2::entry
{
	@later[probeprov] = count();
}

dtrace:::END
{
	printa("TICKS %s %d %@d\n", @ticks);
	printa("LATER %s %@d\n", @later);
}
