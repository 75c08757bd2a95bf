/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * tcp.h - provider tcp: segments and connections
 *
 * A segment that is sent is what goes to IP, up to 64 KiB that the device cuts into pieces.  One that is received
 * is processed for a socket, or is for none (a reset answers it), or for a connection that is over.
 */
DBK_PLACE(tcp, "vmlinux", "", "send", "6.1+", ENTRY, ip_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  sk && dbk_is_of(skb, IPPROTO_TCP), PASS_SENT(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "send", "6.1+", ENTRY, ip6_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  sk && dbk_is_of(skb, IPPROTO_TCP), PASS_SENT(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "receive", "6.1+", ENTRY, tcp_rcv_established,
	  (struct sock *sk, struct sk_buff *skb), true, PASS_RECEIVED(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "receive", "6.1+", ENTRY, tcp_rcv_state_process,
	  (struct sock *sk, struct sk_buff *skb), true, PASS_RECEIVED(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "receive", "6.1+", ENTRY, tcp_v4_send_reset,
	  (struct sock *sk, struct sk_buff *skb), !sk, PASS_RECEIVED(NULL, skb))
DBK_PLACE(tcp, "vmlinux", "", "receive", "6.1+", ENTRY, tcp_v6_send_reset,
	  (struct sock *sk, struct sk_buff *skb), !sk, PASS_RECEIVED(NULL, skb))
DBK_PLACE(tcp, "vmlinux", "", "receive", "6.1+", ENTRY, tcp_timewait_state_process,
	  (struct sock *sk, struct sk_buff *skb), true, PASS_RECEIVED(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "state-change", "6.1+", TRACEPOINT, inet_sock_set_state,
	  (const struct sock *sk, const int old, const int new),
	  sk->sk_protocol == IPPROTO_TCP, PASS_STATES(sk, old, new))

/* The first SYN of a connection, not its repetitions. */
DBK_PLACE(tcp, "vmlinux", "", "connect-request", "6.1+", ENTRY, ip_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  dbk_is_first_syn(sk, skb), PASS_SENT(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "connect-request", "6.1+", ENTRY, ip6_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  dbk_is_first_syn(sk, skb), PASS_SENT(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "connect-established", "6.1+", ENTRY, tcp_finish_connect,
	  (struct sock *sk, struct sk_buff *skb), true, PASS_RECEIVED(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "connect-refused", "6.1+", ENTRY, tcp_reset,
	  (struct sock *sk, struct sk_buff *skb), sk->sk_state == TCP_SYN_SENT,
	  PASS_RECEIVED(sk, skb))
DBK_PLACE(tcp, "vmlinux", "", "accept-established", "6.1+", ENTRY, tcp_init_transfer,
	  (struct sock *sk, int event, struct sk_buff *skb),
	  event == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, PASS_RECEIVED(sk, skb))

/* What is passed on is the SYN that is refused: its source is the peer. */
DBK_PLACE(tcp, "vmlinux", "", "accept-refused", "6.1+", ENTRY, tcp_v4_send_reset,
	  (struct sock *sk, struct sk_buff *skb), !sk && dbk_is_syn(skb), PASS_RECEIVED(NULL, skb))
DBK_PLACE(tcp, "vmlinux", "", "accept-refused", "6.1+", ENTRY, tcp_v6_send_reset,
	  (struct sock *sk, struct sk_buff *skb), !sk && dbk_is_syn(skb), PASS_RECEIVED(NULL, skb))
