/* SPDX-License-Identifier: Apache-2.0 */
/* All that goes over the loopback while the target is there. */
#pragma D option quiet

tcp:::send { @n["TCP-OUT"] = count(); }
tcp:::receive { @n["TCP-IN"] = count(); }
udp:::send { @n[args[2]->ip_ver == 4 ? "UDP4-OUT" : "UDP6-OUT"] = count(); }
udp:::receive { @n[args[2]->ip_ver == 4 ? "UDP4-IN" : "UDP6-IN"] = count(); }

mib::: { @mib[probename] = sum(arg0); }

ip:::send
{
	@bytes[args[2]->ip_ver == 4 ? "BYTES4-OUT" : "BYTES6-OUT"] =
	    sum(args[2]->ip_plength + (args[2]->ip_ver == 4 ? args[4]->ipv4_ihl : 40));
}

ip:::receive
{
	@bytes[args[2]->ip_ver == 4 ? "BYTES4-IN" : "BYTES6-IN"] =
	    sum(args[2]->ip_plength + (args[2]->ip_ver == 4 ? args[4]->ipv4_ihl : 40));
}

tcp:::send, tcp:::receive
/args[4]->tcp_flags & TH_PUSH/
{
	printf("%s %s:%d>%s:%d %d\n", probename, args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr,
	    args[4]->tcp_dport, args[2]->ip_plength - args[4]->tcp_offset);
	@["ports", args[3]->tcps_lport == (probename == "send" ? args[4]->tcp_sport : args[4]->tcp_dport),
	    args[3]->tcps_raddr == (probename == "send" ? args[2]->ip_daddr : args[2]->ip_saddr)] = count();
}

tcp:::connect-request, tcp:::connect-established, tcp:::connect-refused, tcp:::accept-established, tcp:::accept-refused
{
	printf("%s %s:%d>%s:%d\n", probename, args[2]->ip_saddr, args[4]->tcp_sport, args[2]->ip_daddr, args[4]->tcp_dport);
}

/* Each segment and datagram is its socket's: ports, addresses, also where that is of no one connection. */
tcp:::send, tcp:::receive
{
	this->out = probename == "send";
	@["tcp-ends", args[3]->tcps_lport == (this->out ? args[4]->tcp_sport : args[4]->tcp_dport) &&
	    args[3]->tcps_rport == (this->out ? args[4]->tcp_dport : args[4]->tcp_sport),
	    args[3]->tcps_laddr == (this->out ? args[2]->ip_saddr : args[2]->ip_daddr) &&
	    args[3]->tcps_raddr == (this->out ? args[2]->ip_daddr : args[2]->ip_saddr)] = count();
}

/* A connection's first numbers are those of both SYNs, and who sent the first began it. */
uint32_t syn[string, uint16_t, uint16_t];
int began[string, uint16_t, uint16_t];

tcp:::send
/args[4]->tcp_flags & TH_SYN/
{
	syn[args[2]->ip_saddr, args[4]->tcp_sport, args[4]->tcp_dport] = args[4]->tcp_seq;
	began[args[2]->ip_saddr, args[4]->tcp_sport, args[4]->tcp_dport] = (args[4]->tcp_flags & TH_ACK) == 0;
}

tcp:::send, tcp:::receive
/args[3]->tcps_addr != 0 && !(args[4]->tcp_flags & TH_SYN) &&
    syn[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_lport]/
{
	@["numbers", args[3]->tcps_iss == syn[args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_rport],
	    args[3]->tcps_irs == syn[args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_lport]] = count();
	@["active", args[3]->tcps_active == began[args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_rport],
	    args[3]->tcps_sack_snxt == args[3]->tcps_suna] = count();
	@who[args[3]->tcps_active, args[3]->tcps_lport] = count();
}

/* A listener's answer, by either family. */
tcp:::send
/(args[4]->tcp_flags & (TH_SYN | TH_ACK)) == (TH_SYN | TH_ACK)/
{
	@answers[tcp_state_string[args[3]->tcps_state], args[3]->tcps_lport] = count();
}

udp:::send, udp:::receive
{
	this->out = probename == "send";
	@["udp-ends", args[3]->udps_lport == (this->out ? args[4]->udp_sport : args[4]->udp_dport) &&
	    args[3]->udps_rport == (this->out ? args[4]->udp_dport : args[4]->udp_sport),
	    args[3]->udps_laddr == (this->out ? args[2]->ip_saddr : args[2]->ip_daddr) &&
	    args[3]->udps_raddr == (this->out ? args[2]->ip_daddr : args[2]->ip_saddr)] = count();
}

tcp:::state-change
{
	printf("state-change %d:%d %s>%s\n", args[3]->tcps_lport, args[3]->tcps_rport,
	    tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]);
}

udp:::send, udp:::receive
{
	printf("udp-%s %s:%d>%s:%d %d\n", probename, args[2]->ip_saddr, args[4]->udp_sport, args[2]->ip_daddr,
	    args[4]->udp_dport, args[4]->udp_length - 8);
}

/* The tag of a packet that begins an association is 0. */
sctp:::send { @n["SCTP-OUT"] = count(); }
sctp:::receive { @n["SCTP-IN"] = count(); }
sctp:::send, sctp:::receive
{
	printf("sctp-%s %s:%d>%s:%d %u\n", probename, args[2]->ip_saddr, args[4]->sctp_sport, args[2]->ip_daddr,
	    args[4]->sctp_dport, args[4]->sctp_verify);
}
sctp:::state-change
{
	printf("sctp-state-change %d %s>%s\n", args[3]->sctps_lport, sctp_state_string[args[5]->sctps_state],
	    sctp_state_string[args[3]->sctps_state]);
}

ip:::send
/args[4]->ipv4_protocol == IPPROTO_UDP/
{
	@ttl[args[3]->if_name, args[4]->ipv4_protostr, args[4]->ipv4_ttl] = count();
}

ip:::send
/args[5]->ipv6_nexthdr == IPPROTO_UDP/
{
	@ttl[args[3]->if_name, args[5]->ipv6_nextstr, args[5]->ipv6_hlim] = count();
}

END
{
	printa("COUNT %s %@d\n", @n);
	printa("COUNT %s %@d\n", @mib);
	printa("COUNT %s %@d\n", @bytes);
	printa("OWN %s %d%d %@d\n", @);
	printa("WHO %d %d %@d\n", @who);
	printa("ANSWER %s %d %@d\n", @answers);
	printa("TTL %s %s %d %@d\n", @ttl);
}
