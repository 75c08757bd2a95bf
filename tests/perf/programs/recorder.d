/* SPDX-License-Identifier: Apache-2.0 */
/* A typical record: who, and one number. */
#pragma D option bufpolicy=ring
#pragma D option bufsize=4m

syscall::getppid:entry
{
	printf("%s %d", execname, arg0);
}
