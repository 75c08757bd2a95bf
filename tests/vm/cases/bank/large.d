/* SPDX-License-Identifier: Apache-2.0 */
/* More than any bank of the test has room for. */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=32m

profile-97
{
	printf("%d\n", cpu);
}
