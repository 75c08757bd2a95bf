/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each firing: what, when in ms of the machine, and its arguments. */
#pragma D option quiet
#pragma D option bufsize=4m

boot:::module-load-start, boot:::init-exec { printf("%s %d %s\n", probename, timestamp / 1000, args[0]); }
boot:::module-load-done { printf("%s %d %s %d %d\n", probename, timestamp / 1000, args[0], args[1] / 1000, args[2]); }
boot:::firmware-request { printf("%s %d %s '%s'\n", probename, timestamp / 1000, args[0], args[1]); }
boot:::firmware-done { printf("%s %d %s '%s' %d %d\n", probename, timestamp / 1000, args[0], args[1], args[2] / 1000, args[3]); }
boot:::device-probe-start { printf("%s %d %s %s %s\n", probename, timestamp / 1000, args[0], args[1], args[2]); }
boot:::device-probe-done
{
	printf("%s %d %s %s %s %d %d\n", probename, timestamp / 1000, args[0], args[1], args[2], args[3] / 1000, args[4]);
	@callers[stack(2)] = count();
}
boot:::rootfs-mounted { printf("%s %d %s %s\n", probename, timestamp / 1000, args[0], args[1]); }
boot:::switch-root { printf("%s %d\n", probename, timestamp / 1000); }
boot:::unit-start, boot:::unit-stop { printf("%s %d %s %s\n", probename, timestamp / 1000, args[0], args[1]); }
boot:::unit-ready { printf("%s %d %s %d\n", probename, timestamp / 1000, unit, strlen(args[0])); }
