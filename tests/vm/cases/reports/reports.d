/* SPDX-License-Identifier: Apache-2.0 */
/* What reports go through, at its entry and return, and what is interrupted by them. */
#pragma D option quiet
#pragma D option bufsize=1m

fbt:vmlinux:nmi_cpu_backtrace*:, fbt:vmlinux:nmi_trigger_cpumask_backtrace:, fbt:vmlinux:show_stack:,
fbt:vmlinux:show_regs:, fbt:vmlinux:vprintk*:, fbt:vmlinux:vsnprintf:, fbt:vmlinux:unknown_nmi_error:,
fbt:vmlinux:watchdog_timer_fn:, fbt:vmlinux:console_unlock:, fbt:vmlinux:prb_*:
{
	@[probefunc, probename] = count();
}

/* In NMI, where they lie deep, with as much stack as a clause takes. */
fbt:vmlinux:number:entry, fbt:vmlinux:format_decode:entry, fbt:vmlinux:string_nocheck:entry, fbt:vmlinux:prb_*:entry,
fbt:vmlinux:kallsyms_lookup*:entry
/ipl == 3/
{
	@deep[stack(), strjoin(probefunc, lltostr(arg0)), *(int *)arg0] = count();
}

profile-97
{
	@["profile", ""] = count();
	@stacks[stack(4)] = count();
}

dtrace:::END
{
	printa("CALLS %s %s %@d\n", @);
}
