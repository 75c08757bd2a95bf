/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modload.d - modules that are loaded, and how long their init took
 */
#pragma D option quiet

boot:::module-load-done
/watched/
{
	printf("%Y %d %s[%d]: loaded %s: %d us, result %d\n", walltimestamp, uid, execname, pid,
	    args[0], args[1] / 1000, (int)arg2);
}
