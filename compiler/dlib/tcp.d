/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider tcp: segments as tcpinfo_t, connections as tcpsinfo_t.  What Linux does not keep is 0, or -1 where 0 means
 * something.
 */
#pragma D depends_on library ip.d

/* Of a connection: include/net/tcp_states.h of the Linux kernel. */
inline int TCP_STATE_ESTABLISHED = 1;
inline int TCP_STATE_SYN_SENT = 2;
inline int TCP_STATE_SYN_RECEIVED = 3;
inline int TCP_STATE_FIN_WAIT_1 = 4;
inline int TCP_STATE_FIN_WAIT_2 = 5;
inline int TCP_STATE_TIME_WAIT = 6;
inline int TCP_STATE_CLOSED = 7;
inline int TCP_STATE_CLOSE_WAIT = 8;
inline int TCP_STATE_LAST_ACK = 9;
inline int TCP_STATE_LISTEN = 10;
inline int TCP_STATE_CLOSING = 11;

inline string tcp_state_string[int32_t S] = S == 1 ? "state-established" : S == 2 ? "state-syn-sent" :
    S == 3 ? "state-syn-received" : S == 4 ? "state-fin-wait-1" : S == 5 ? "state-fin-wait-2" :
    S == 6 ? "state-time-wait" : S == 7 ? "state-closed" : S == 8 ? "state-close-wait" : S == 9 ? "state-last-ack" :
    S == 10 ? "state-listen" : S == 11 ? "state-closing" : "<unknown>";

/* Of a segment. */
inline uint8_t TH_FIN = 0x01;
inline uint8_t TH_SYN = 0x02;
inline uint8_t TH_RST = 0x04;
inline uint8_t TH_PUSH = 0x08;
inline uint8_t TH_PSH = 0x08;
inline uint8_t TH_ACK = 0x10;
inline uint8_t TH_URG = 0x20;
inline uint8_t TH_ECE = 0x40;
inline uint8_t TH_CWR = 0x80;

typedef struct tcpinfo {
	uint16_t tcp_sport;		/* source port */
	uint16_t tcp_dport;		/* destination port */
	uint32_t tcp_seq;		/* sequence number */
	uint32_t tcp_ack;		/* acknowledgement number */
	uint8_t tcp_offset;		/* bytes of the header */
	uint8_t tcp_flags;		/* TH_ flags */
	uint16_t tcp_window;		/* as it is in the header, not scaled */
	uint16_t tcp_checksum;		/* as it is in the header */
	uint16_t tcp_urgent;		/* urgent pointer */
	struct tcphdr *tcp_hdr;		/* the header, in network byte order */
} tcpinfo_t;

typedef struct tcpsinfo {
	uintptr_t tcps_addr;		/* of the struct sock; 0: none, and what only it has is 0 */
	int tcps_local;			/* 1: both addresses are the same */
	int tcps_active;		/* 1: this side began it; 0: the other; -1: a listener's, or without a socket */
	uint16_t tcps_lport;		/* local port */
	uint16_t tcps_rport;		/* remote port */
	string tcps_laddr;		/* local address */
	string tcps_raddr;		/* remote address */
	int32_t tcps_state;		/* TCP_STATE_ of the connection, the new one when it changes */
	uint32_t tcps_iss;		/* its SYN's number; 0: not chosen yet, a listener's, or without a socket */
	uint32_t tcps_irs;		/* the number of the other side's SYN; 0: as tcps_iss, or none yet */
	uint32_t tcps_suna;		/* first byte that is not acknowledged */
	uint32_t tcps_snxt;		/* next to send */
	uint32_t tcps_rack;		/* last byte that was acknowledged to the other side */
	uint32_t tcps_rnxt;		/* next to receive */
	uint32_t tcps_swnd;		/* send window, bytes */
	int32_t tcps_snd_ws;		/* shift of the send window */
	uint32_t tcps_rwnd;		/* receive window, bytes */
	int32_t tcps_rcv_ws;		/* shift of the receive window */
	uint32_t tcps_cwnd;		/* bytes */
	uint32_t tcps_cwnd_ssthresh;	/* bytes; 2147483647: none yet */
	uint32_t tcps_sack_fack;	/* first byte after all that was SACKed; tcps_suna: nothing was */
	uint32_t tcps_sack_snxt;	/* the same */
	uint32_t tcps_rto;		/* time after which it is sent again, ms */
	uint32_t tcps_rtt;		/* smoothed time of a round trip, us */
	uint32_t tcps_rtt_sd;		/* its mean deviation, us */
	uint32_t tcps_mss;		/* bytes that a segment has at most */
	int tcps_retransmit;		/* 1: the segment that is sent was sent before; of a SYN with ACK 0 */
} tcpsinfo_t;

typedef struct tcplsinfo {
	int32_t tcps_state;		/* the one before */
} tcplsinfo_t;

/* The byte with the flags is the 13th, the length of the header the upper half of the one before. */
translator tcpinfo_t < dbk_packet_t *P > {
	tcp_sport = P->transport == 0 ? 0 : ntohs(((struct tcphdr *)P->transport)->source);
	tcp_dport = P->transport == 0 ? 0 : ntohs(((struct tcphdr *)P->transport)->dest);
	tcp_seq = P->transport == 0 ? 0 : ntohl(((struct tcphdr *)P->transport)->seq);
	tcp_ack = P->transport == 0 ? 0 : ntohl(((struct tcphdr *)P->transport)->ack_seq);
	tcp_offset = P->transport == 0 ? 0 : (*(uint8_t *)(P->transport + 12) >> 4) * 4;
	tcp_flags = P->transport == 0 ? 0 : *(uint8_t *)(P->transport + 13);
	tcp_window = P->transport == 0 ? 0 : ntohs(((struct tcphdr *)P->transport)->window);
	tcp_checksum = P->transport == 0 ? 0 : ntohs(((struct tcphdr *)P->transport)->check);
	tcp_urgent = P->transport == 0 ? 0 : ntohs(((struct tcphdr *)P->transport)->urg_ptr);
	tcp_hdr = (struct tcphdr *)P->transport;
};

inline struct sock *tcp_socket[dbk_packet_t *P] = (struct sock *)P->sock;
inline struct tcp_sock *tcp_of[dbk_packet_t *P] = (struct tcp_sock *)P->sock;
inline struct ipv6_pinfo *tcp_ipv6[dbk_packet_t *P] = ((struct inet_sock *)P->sock)->pinet6;

/* A listener belongs to all its clients. */
inline int tcp_is_one[dbk_packet_t *P] = P->sock != 0 && P->state != TCP_STATE_LISTEN &&
    tcp_socket[P]->__sk_common.skc_state != TCP_STATE_LISTEN;

/*
 * A socket that was accepted has for multicast the interface by which its SYN came, which programs cannot set on a stream.
 * IPv6's is set by segments, too, where a program asked to be said how they come: then only what listened has a backlog.
 */
inline int tcp_is_accepted[dbk_packet_t *P] = ((struct inet_sock *)P->sock)->mc_index != 0 ||
    (tcp_socket[P]->__sk_common.skc_family == AF_INET6 && tcp_ipv6[P]->mcast_oif != 0 &&
    (tcp_ipv6[P]->rxopt.all == 0 || tcp_socket[P]->sk_max_ack_backlog != 0));

/* They are chosen after the state's change to SYN_SENT, which has no packet. */
inline int tcp_has_numbers[dbk_packet_t *P] = tcp_is_one[P] && (P->skb != 0 || P->state != TCP_STATE_SYN_SENT);

/* The first byte after all that was SACKed. */
inline uint32_t tcp_sacked_end[dbk_packet_t *P] = P->sock == 0 ? 0 : tcp_of[P]->sacked_out == 0 ? tcp_of[P]->snd_una :
    tcp_of[P]->highest_sack == NULL ? tcp_of[P]->snd_nxt :
    ((struct tcp_skb_cb *)&tcp_of[P]->highest_sack->cb[0])->seq;

translator tcpsinfo_t < dbk_packet_t *P > {
	tcps_addr = (uintptr_t)P->sock;
	tcps_local = local_address[P] == remote_address[P];
	tcps_active = tcp_is_one[P] ? !tcp_is_accepted[P] : -1;
	tcps_lport = local_port[P];
	tcps_rport = remote_port[P];
	tcps_laddr = local_address[P];
	tcps_raddr = remote_address[P];
	tcps_state = P->state;
	/* Of what was acknowledged, the kernel counts the SYN but where it was accepted. */
	tcps_iss = !tcp_has_numbers[P] ? 0 :
	    (uint32_t)(tcp_of[P]->snd_una - (uint32_t)tcp_of[P]->bytes_acked - tcp_is_accepted[P]);
	tcps_irs = !tcp_has_numbers[P] || tcp_of[P]->rcv_nxt == 0 ? 0 :
	    (uint32_t)(tcp_of[P]->rcv_nxt - (uint32_t)tcp_of[P]->bytes_received - 1);
	tcps_suna = P->sock == 0 ? 0 : tcp_of[P]->snd_una;
	tcps_snxt = P->sock == 0 ? 0 : tcp_of[P]->snd_nxt;
	tcps_rack = P->sock == 0 ? 0 : tcp_of[P]->rcv_wup;
	tcps_rnxt = P->sock == 0 ? 0 : tcp_of[P]->rcv_nxt;
	tcps_swnd = P->sock == 0 ? 0 : tcp_of[P]->snd_wnd;
	tcps_snd_ws = P->sock == 0 ? 0 : tcp_of[P]->rx_opt.snd_wscale;
	tcps_rwnd = P->sock == 0 ? 0 : tcp_of[P]->rcv_wnd;
	tcps_rcv_ws = P->sock == 0 ? 0 : tcp_of[P]->rx_opt.rcv_wscale;
	tcps_cwnd = P->sock == 0 ? 0 :
	    tcp_of[P]->snd_cwnd * tcp_of[P]->mss_cache;
	tcps_cwnd_ssthresh = P->sock == 0 ? 0 :
	    tcp_of[P]->snd_ssthresh >= 0x7fffffff ? 0x7fffffff :
	    tcp_of[P]->snd_ssthresh * tcp_of[P]->mss_cache;
	tcps_sack_fack = tcp_sacked_end[P];
	tcps_sack_snxt = tcp_sacked_end[P];
	/* tick_nsec is how long a jiffy is. */
	tcps_rto = P->sock == 0 ? 0 :
	    (uint64_t)((struct inet_connection_sock *)P->sock)->icsk_rto * *(uint64_t *)&`tick_nsec / 1000000;
	/* The kernel keeps 8 times and 4 times of them. */
	tcps_rtt = P->sock == 0 ? 0 : tcp_of[P]->srtt_us >> 3;
	tcps_rtt_sd = P->sock == 0 ? 0 : tcp_of[P]->mdev_us >> 2;
	tcps_mss = P->sock == 0 ? 0 : tcp_of[P]->mss_cache;
	tcps_retransmit = P->sock != 0 && P->transport != 0 && !P->is_received && P->state != TCP_STATE_SYN_RECEIVED &&
	    (P->payload_bytes > (*(uint8_t *)(P->transport + 12) >> 4) * 4 ||
	    (*(uint8_t *)(P->transport + 13) & (TH_SYN | TH_FIN)) != 0) &&
	    (int32_t)(ntohl(((struct tcphdr *)P->transport)->seq) - tcp_of[P]->snd_nxt) < 0;
};

translator tcplsinfo_t < dbk_packet_t *P > {
	tcps_state = P->old_state;
};

provider tcp {
	probe send(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, tcpsinfo_t *P, tcpinfo_t *P);
	probe receive(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, tcpsinfo_t *P, tcpinfo_t *P);
	probe connect__request(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, tcpsinfo_t *P, tcpinfo_t *P);
	probe connect__established(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, tcpsinfo_t *P, tcpinfo_t *P);
	probe connect__refused(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, tcpsinfo_t *P, tcpinfo_t *P);
	probe accept__established(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, tcpsinfo_t *P, tcpinfo_t *P);
	probe accept__refused(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, tcpsinfo_t *P, tcpinfo_t *P);
	probe state__change(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, tcpsinfo_t *P, tcpinfo_t *P, tcplsinfo_t *P);
};
