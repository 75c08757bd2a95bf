/* SPDX-License-Identifier: Apache-2.0 */
/* A system call that takes microseconds, and beside it, twice, as long a search in strings as one firing may do: four
   fifths of the CPU also where KASAN and lockdep make the call itself a third of a millisecond. */
#pragma D option strsize=8192
#pragma D option bufsize=2m

string s, p;

BEGIN { s = "a"; }
BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); }
BEGIN { p = strjoin(s, "b"); }

syscall:::entry,
syscall:::return
/execname == "workload"/
{
	trace(index(s, p) + index(s, p) + index(s, p) + index(s, p) + index(s, p) +
	    index(s, p) + index(s, p) + index(s, p) + index(s, p) + index(s, p));
}
