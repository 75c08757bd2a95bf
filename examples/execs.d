/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execs.d - the life of every process: born, became a program, gone
 */
#pragma D option quiet

dtrace:::BEGIN
{
	start = timestamp;
}

proc:::create
{
	printf("%8d ms  %-16s %6d  forked\n", (timestamp - start) / 1000000, execname, pid);
}

proc:::exec-success
{
	printf("%8d ms  %-16s %6d  executed\n", (timestamp - start) / 1000000, execname, pid);
}

proc:::exit
{
	printf("%8d ms  %-16s %6d  exited\n", (timestamp - start) / 1000000, execname, pid);
}
