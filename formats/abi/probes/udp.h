/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* udp.h - provider udp: datagrams, as they go to IP and come to a socket */
DBK_PLACE(udp, "vmlinux", "", "send", "6.1+", ENTRY, ip_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  sk && dbk_is_of(skb, IPPROTO_UDP), PASS_SENT(sk, skb))
DBK_PLACE(udp, "vmlinux", "", "send", "6.1+", ENTRY, ip_mc_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  sk && dbk_is_of(skb, IPPROTO_UDP), PASS_SENT(sk, skb))
DBK_PLACE(udp, "vmlinux", "", "send", "6.1+", ENTRY, ip6_output,
	  (struct net *net, struct sock *sk, struct sk_buff *skb),
	  sk && dbk_is_of(skb, IPPROTO_UDP), PASS_SENT(sk, skb))
DBK_PLACE(udp, "vmlinux", "", "receive", "6.1+", ENTRY, udp_queue_rcv_one_skb,
	  (struct sock *sk, struct sk_buff *skb), sk->sk_protocol == IPPROTO_UDP, PASS_RECEIVED(sk, skb))
DBK_PLACE(udp, "vmlinux", "", "receive", "6.1+", ENTRY, udpv6_queue_rcv_one_skb,
	  (struct sock *sk, struct sk_buff *skb), sk->sk_protocol == IPPROTO_UDP, PASS_RECEIVED(sk, skb))
