/* SPDX-License-Identifier: Apache-2.0 */
/* A system call that takes microseconds, and a search in a string beside it that takes milliseconds. */
#pragma D option strsize=8192
#pragma D option bufsize=2m

string s, p;

BEGIN { s = "a"; }
BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { p = strjoin(s, "b"); }

syscall:::entry
/execname == "workload"/
{
	trace(index(s, p) + index(s, p) + index(s, p) + index(s, p) + index(s, p) + index(s, p));
}
