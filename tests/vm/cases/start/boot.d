/* SPDX-License-Identifier: Apache-2.0 */
#pragma D option quiet
#pragma D option bufsize=256k

syscall::getppid:entry
/execname == "workload"/
{
	printf("BOOT\n");
}
