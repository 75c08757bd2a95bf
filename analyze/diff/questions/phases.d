/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases.d - what the first process executed, and the default target, ms after tracing began
 *
 * Its first program is the initramfs's, the next one that of the real root; the last is systemd-shutdown.
 * systemd executes "systemd-update-utmp runlevel" when multi-user.target or graphical.target is reached, on
 * Debian 12 and others that have utmp.  Asks for pid and curpsinfo->pr_psargs at proc:::exec-success.
 */
#pragma D option quiet

dtrace:::BEGIN
{
	began = timestamp;
}

proc:::exec-success
/pid == 1/
{
	@ms[strjoin("process 1: ", curpsinfo->pr_psargs)] = min((timestamp - began) / 1000000);
}

proc:::exec-success
/strstr(curpsinfo->pr_psargs, "systemd-update-utmp runlevel") != NULL/
{
	@ms["multi-user.target reached"] = min((timestamp - began) / 1000000);
}

dtrace:::END
{
	printa("  %@9d  %s\n", @ms);
}
