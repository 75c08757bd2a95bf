/* SPDX-License-Identifier: Apache-2.0 */
/* From the first instruction on: who is executed. */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=1m

proc:::exec-success
{
	printf("%s\n", execname);
}
