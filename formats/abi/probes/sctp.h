/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * sctp.h - provider sctp: packets, as they go to IP and come from it, and states of sockets
 *
 * SCTP is a module that may come later; these places are the kernel's own.  What is received has no socket yet, and what UDP carries
 * (RFC 6951) is UDP's.
 */
DBK_PLACE(sctp, "vmlinux", "", "send", "6.1+", ENTRY, ip_output ip6_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  sk && dbk_is_of(skb, IPPROTO_SCTP), PASS_SENT(sk, skb))
DBK_PLACE(sctp, "vmlinux", "", "receive", "6.1+", ENTRY, ip_local_deliver_finish ip6_input_finish,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  dbk_is_of(skb, IPPROTO_SCTP), PASS_RECEIVED(NULL, skb))
DBK_PLACE(sctp, "vmlinux", "", "state-change", "6.1+", TRACEPOINT, inet_sock_set_state,
	  (const struct sock *sk, const int old, const int new),
	  sk->sk_protocol == IPPROTO_SCTP, PASS_STATES(sk, old, new))

DBK_ABSENT(sctp, "cwnd", "sdt:sctp::sctp_probe_path has it, while SCTP's module is loaded")
DBK_ABSENT(sctp, "rwnd", "sdt:sctp::sctp_probe has it, while SCTP's module is loaded")
