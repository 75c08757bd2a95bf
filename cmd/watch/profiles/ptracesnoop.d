/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptracesnoop.d - who looks into another process
 */
#pragma D option quiet

syscall::ptrace:entry,
syscall::process_vm_readv:entry,
syscall::process_vm_writev:entry
/watched/
{
	printf("%Y %d %s[%d]: %s of %d\n", walltimestamp, uid, execname, pid,
	    probefunc, (int)(probefunc == "ptrace" ? arg1 : arg0));
}
