/* SPDX-License-Identifier: Apache-2.0 */
/* In which phase of the boot each program was executed. */
#pragma D option quiet
#pragma D option bufsize=512k

proc:::exec-success
{
	printf("PHASE %s %s %s\n", bootphase, unit, execname);
}
