/* SPDX-License-Identifier: Apache-2.0 */
/* What root records while others choose the names. */
#pragma D option bufsize=256k
#pragma D option bufpolicy=ring

proc:::exit
{
	trace(execname);
}
