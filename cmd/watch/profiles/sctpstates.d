/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sctpstates.d - SCTP sockets that change their state
 *
 * Most changes come with a packet, while another program runs: a filter by process sees its own calls only.
 */
#pragma D option quiet

sctp:::state-change
/watched/
{
	printf("%Y %d %s[%d]: port %d: %s to %s\n", walltimestamp, uid, execname, pid, args[3]->sctps_lport,
	    sctp_state_string[args[5]->sctps_state], sctp_state_string[args[3]->sctps_state]);
}
