/* SPDX-License-Identifier: Apache-2.0 */
/* What the target allocates, by cache, between two getppid(); the tracepoint's own sizes beside it. */
#pragma D option quiet

int between;

syscall::getppid:entry /pid == $target/ { between = !between; }

dtmalloc::kmalloc-64:malloc /between && pid == $target/ { @n["MALLOC"] = count(); @asked[args[0]->ks_shortdesc, args[4]] = count(); }
dtmalloc::kmalloc-64:free /between && pid == $target/ { @n["FREE"] = count(); }
dtmalloc::filp:malloc /between && pid == $target/ { @n["FILP"] = count(); }
dtmalloc::kmem_cache:malloc /between && pid == $target && args[0]->ks_shortdesc == "filp"/ { @n["ALL-FILP"] = count(); }
/* What is accounted or reclaimable has caches of its own, and is none of this. */
sdt:::kmalloc /between && pid == $target && args[3] == 64/ { @n["KMALLOC"] = count(); }

END
{
	printa("%s %@d\n", @n);
	printa("ASKED %s %d %@d\n", @asked);
}
