/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ip.h - provider ip: packets of IP, forwarded ones too, as they go to a neighbour and come from one
 *
 * Received are those that are for this machine, before reassembly, or to be forwarded.
 */
DBK_PLACE(ip, "vmlinux", "", "send", "6.1+", ENTRY, ip_finish_output2,
	  (struct net *net, struct sock *sk, struct sk_buff *skb), true, PASS_SENT(sk, skb))
DBK_PLACE(ip, "vmlinux", "", "send", "6.1+", ENTRY, ip6_finish_output2,
	  (struct net *net, struct sock *sk, struct sk_buff *skb), true, PASS_SENT(sk, skb))
DBK_PLACE(ip, "vmlinux", "", "receive", "6.1+", ENTRY, ip_local_deliver, (struct sk_buff *skb), true,
	  PASS_RECEIVED(skb->sk, skb))
DBK_PLACE(ip, "vmlinux", "", "receive", "6.1+", ENTRY, ip_forward, (struct sk_buff *skb), true,
	  PASS_RECEIVED(NULL, skb))
DBK_PLACE(ip, "vmlinux", "", "receive", "6.1+", ENTRY, ip6_input, (struct sk_buff *skb), true,
	  PASS_RECEIVED(skb->sk, skb))
DBK_PLACE(ip, "vmlinux", "", "receive", "6.1+", ENTRY, ip6_forward, (struct sk_buff *skb), true,
	  PASS_RECEIVED(NULL, skb))

DBK_ABSENT(ip, "drop-in", "sdt:::kfree_skb says which packet was dropped and why")
DBK_ABSENT(ip, "drop-out", "sdt:::kfree_skb says which packet was dropped and why")
