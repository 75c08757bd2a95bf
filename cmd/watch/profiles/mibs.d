/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mibs.d - by how much counters of the network's protocols go up
 *
 * Of connections, segments, datagrams and messages.  What is received is counted while any program runs: a filter by process sees what its own calls count.
 */
#pragma D option quiet

mib:::
/watched/
{
	@[probename] = sum(arg0);
}

dtrace:::END
{
	printa("%-24s %@10d\n", @);
}
