/* SPDX-License-Identifier: Apache-2.0 */
/* Every probe of proc, by the names that "life" gives its doings. */
#pragma D option quiet
#pragma D option bufsize=1m

proc:::create, proc:::start, proc:::exec-success, proc:::lwp-create, proc:::lwp-start, proc:::lwp-exit
/execname == "life" || execname == "true"/
{
	printf("%s %s\n", probename, execname);
}

proc:::exec
/execname == "life"/
{
	printf("%s %s %s\n", probename, execname, args[0]);
}

proc:::exec-failure, proc:::exit, proc:::signal-clear
/execname == "life" || execname == "true"/
{
	printf("%s %s %d\n", probename, execname, arg0);
}

proc:::signal-send, proc:::signal-discard
/execname == "life" && arg0 == (uintptr_t)curthread && arg0 == arg1/
{
	printf("%s %s %d\n", probename, execname, arg2);
}

proc:::signal-handle
/execname == "life" && arg1 != 0 && arg2 > 4096/
{
	printf("%s %s %d\n", probename, execname, arg0);
}

sched:::
/execname == "life" || execname == "true"/
{
	@sched[probename] = count();
}

io:::
/arg0 != 0/
{
	@io[probename] = count();
}

dtrace:::END
{
	printa("SCHED %s %@d\n", @sched);
	printa("IO %s %@d\n", @io);
}
