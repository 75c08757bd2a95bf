/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.d - systemd units that start and stop, services that are ready
 */
#pragma D option quiet

boot:::unit-start,
boot:::unit-stop
/watched/
{
	printf("%Y %d %s[%d]: %s %s\n", walltimestamp, uid, execname, pid,
	    probename, args[0]);
}

boot:::unit-ready
/watched/
{
	printf("%Y %d %s[%d]: %s %s\n", walltimestamp, uid, execname, pid,
	    probename, unit);
}
