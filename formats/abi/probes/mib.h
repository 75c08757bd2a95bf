/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * mib.h - provider mib: counters of the network's protocols, by the names of their MIBs
 *
 * arg0 is by how much the counter goes up.  Those of TCP and UDP are of IPv4 and IPv6, those of IP and ICMP of IPv4.
 */
DBK_PLACE(mib, "vmlinux", "", "tcpActiveOpens", "6.1+", ENTRY, tcp_connect,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "tcpPassiveOpens", "6.1+", RETURN, tcp_create_openreq_child,
	  (void *sock), sock, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "tcpAttemptFails", "6.1+", ENTRY, tcp_done,
	  (struct sock *sk), sk->sk_state == TCP_SYN_SENT || sk->sk_state == TCP_SYN_RECV, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "tcpEstabResets", "6.1+", TRACEPOINT, inet_sock_set_state,
	  (const struct sock *sk, const int old, const int new), sk->sk_protocol == IPPROTO_TCP && new == TCP_CLOSE && (old == TCP_ESTABLISHED || old == TCP_CLOSE_WAIT), PASS(1))
DBK_PLACE(mib, "vmlinux", "", "tcpInSegs", "6.1+", ENTRY, tcp_v4_rcv tcp_v6_rcv,
	  (struct sk_buff *skb), skb->pkt_type == PACKET_HOST, PASS(1))
/* What is sent again is not counted; what no full socket sends is, where it is made. */
DBK_PLACE(mib, "vmlinux", "", "tcpOutSegs", "6.1+", ENTRY, __tcp_transmit_skb,
	  (struct sock *sk, struct sk_buff *skb),
	  after(TCP_SKB_CB(skb)->end_seq, tcp_sk(sk)->snd_nxt) || TCP_SKB_CB(skb)->seq == TCP_SKB_CB(skb)->end_seq,
	  PASS(tcp_skb_pcount(skb)))
DBK_PLACE(mib, "vmlinux", "", "tcpOutSegs", "6.1+", ENTRY, tcp_make_synack tcp_v4_send_ack tcp_v6_send_response,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "tcpOutSegs", "6.1+", ENTRY, tcp_v4_send_reset,
	  (struct sock *sk, struct sk_buff *skb), !tcp_hdr(skb)->rst, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "tcpRetransSegs", "6.1+", TRACEPOINT, tcp_retransmit_skb,
	  (const struct sock *sk, const struct sk_buff *skb), true, PASS(tcp_skb_pcount(skb)))
DBK_PLACE(mib, "vmlinux", "", "tcpRetransSegs", "6.1+", TRACEPOINT, tcp_retransmit_synack,
	  (const struct sock *sk, const struct request_sock *req), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "tcpOutRsts", "6.1+", ENTRY, tcp_v4_send_reset tcp_v6_send_reset,
	  (struct sock *sk, struct sk_buff *skb), !tcp_hdr(skb)->rst, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "tcpOutRsts", "6.1+", ENTRY, tcp_send_active_reset,
	  (), true, PASS(1))
/* What was only looked at (MSG_PEEK) is still in the queue, and its bytes are not taken off. */
DBK_PLACE(mib, "vmlinux", "", "udpInDatagrams", "6.1+", ENTRY, skb_consume_udp,
	  (struct sock *sk, struct sk_buff *skb, int bytes),
	  sk->sk_protocol == IPPROTO_UDP && bytes >= 0 && !READ_ONCE(skb->next), PASS(1))
DBK_PLACE(mib, "vmlinux", "", "udpOutDatagrams", "6.1+", ENTRY, ip_output ip_mc_output ip6_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb), sk && dbk_is_of(skb, IPPROTO_UDP), PASS(1))
DBK_PLACE(mib, "vmlinux", "", "ipInReceives", "6.1+", ENTRY, ip_rcv_core,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "ipInDelivers", "6.1+", ENTRY, ip_local_deliver_finish,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "ipOutRequests", "6.1+", ENTRY, __ip_local_out,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "ipForwDatagrams", "6.1+", ENTRY, ip_forward_finish,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "ipReasmReqds", "6.1+", ENTRY, ip_defrag,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "icmpInMsgs", "6.1+", ENTRY, icmp_rcv,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "icmpInDestUnreachs", "6.1+", ENTRY, icmp_unreach,
	  (struct sk_buff *skb), icmp_hdr(skb)->type == ICMP_DEST_UNREACH, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "icmpInEchos", "6.1+", ENTRY, icmp_echo,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "icmpOutMsgs", "6.1+", ENTRY, icmp_out_count,
	  (), true, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "icmpOutDestUnreachs", "6.1+", ENTRY, icmp_out_count,
	  (struct net *net, unsigned char type), type == ICMP_DEST_UNREACH, PASS(1))
DBK_PLACE(mib, "vmlinux", "", "icmpOutEchoReps", "6.1+", ENTRY, icmp_out_count,
	  (struct net *net, unsigned char type), type == ICMP_ECHOREPLY, PASS(1))

DBK_ABSENT(mib, "tcpCurrEstab", "it goes down as well: tcp:::state-change has the states")
DBK_ABSENT(mib, "tcpInErrs", "sdt:::kfree_skb says which packet was dropped and why")
DBK_ABSENT(mib, "udpInErrors", "sdt:::kfree_skb says which packet was dropped and why")
DBK_ABSENT(mib, "udpNoPorts", "sdt:::kfree_skb says which packet was dropped and why")
DBK_ABSENT(mib, "ipInDiscards", "sdt:::kfree_skb says which packet was dropped and why")
DBK_ABSENT(mib, "ipInHdrErrors", "sdt:::kfree_skb says which packet was dropped and why")
DBK_ABSENT(mib, "ipOutDiscards", "sdt:::kfree_skb says which packet was dropped and why")
DBK_ABSENT(mib, "ipOutNoRoutes", "a system call fails with ENETUNREACH: syscall:::return")
