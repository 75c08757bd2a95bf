/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option quiet

proc:::exec-success
/pid == 1/
{
	printf("FIRST %s\n", execname);
}
