/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firmware.d - firmware that drivers ask for
 */
#pragma D option quiet

boot:::firmware-done
/watched/
{
	printf("%Y %d %s[%d]: %s for %s: %d us, result %d\n", walltimestamp, uid, execname, pid,
	    args[0], args[1], args[2] / 1000, (int)arg3);
}
