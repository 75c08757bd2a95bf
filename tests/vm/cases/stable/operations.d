/* SPDX-License-Identifier: Apache-2.0 */
/* Between two getppid() of the target, by system call and by probe. */
#pragma D option quiet

int between;

syscall::getppid:entry /pid == $target/ { between = !between; }

syscall:::entry /between && pid == $target/ { @calls[probefunc] = count(); }
fsinfo::: /between && pid == $target/ { @fs[probename] = count(); }
vfs:vop::entry /between && pid == $target/ { @vop[probefunc] = count(); }
vfs:vop::return /between && pid == $target/ { @ends[probefunc] = count(); }
sysinfo:::sysread, sysinfo:::readch, sysinfo:::syswrite, sysinfo:::writech /between && pid == $target/ { @by[probename] = sum(arg0); }
mac_framework::security_task_prctl: /between && pid == $target/ { @asked[probename] = count(); }

END
{
	printa("CALL %s %@d\n", @calls);
	printa("FS %s %@d\n", @fs);
	printa("VOP %s %@d\n", @vop);
	printa("END %s %@d\n", @ends);
	printa("BY %s %@d\n", @by);
	printa("PRCTL %s %@d\n", @asked);
}
