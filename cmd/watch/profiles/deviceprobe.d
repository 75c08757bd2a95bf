/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deviceprobe.d - drivers that are tried on devices, and how long
 */
#pragma D option quiet

boot:::device-probe-done
/watched/
{
	printf("%Y %d %s[%d]: %s by %s on %s: %d us, result %d\n", walltimestamp, uid, execname, pid,
	    args[0], args[1], args[2], args[3] / 1000, (int)arg4);
}
