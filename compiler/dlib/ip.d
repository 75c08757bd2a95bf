/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider ip, and what tcp, udp and sctp share with it: packets, connections, addresses.
 */
#pragma D depends_on library net.d

/* formats/abi/packet.h */
typedef struct dbk_packet {
	uint64_t skb;
	uint64_t sock;
	uint64_t header;
	uint64_t transport;
	uint64_t device;
	uint32_t version;
	uint32_t payload_bytes;
	int32_t state;
	int32_t old_state;
	uint64_t is_received;
	uint64_t local_port;
	uint64_t remote_port;
} dbk_packet_t;

typedef struct pktinfo {
	uintptr_t pkt_addr;		/* of the sk_buff */
} pktinfo_t;

typedef struct csinfo {
	uintptr_t cs_addr;		/* of the struct sock; 0: none */
	uint64_t cs_cid;		/* its cookie, 0 until something has asked for it */
	pid_t cs_pid;			/* -1: a socket does not say whose it is */
	uint32_t cs_zoneid;		/* number of its network namespace */
} csinfo_t;

typedef struct conninfo {
	string ci_local;		/* local address */
	string ci_remote;		/* remote address */
	string ci_protocol;		/* "ipv4" or "ipv6" */
} conninfo_t;

typedef struct ipinfo {
	uint8_t ip_ver;			/* 4 or 6 */
	uint32_t ip_plength;		/* bytes after the header */
	string ip_saddr;		/* source address; <none> without a header */
	string ip_daddr;		/* destination address */
} ipinfo_t;

typedef struct ifinfo {
	string if_name;			/* "": not known yet */
	int8_t if_local;		/* 1: loopback */
	uint32_t if_ipstack;		/* number of its network namespace */
	uintptr_t if_addr;		/* of the struct net_device */
} ifinfo_t;

typedef struct ipv4info {
	uint8_t ipv4_ver;		/* 4; 0: it is not of IPv4, nor are the others */
	uint8_t ipv4_ihl;		/* bytes */
	uint8_t ipv4_tos;		/* type of service */
	uint16_t ipv4_length;		/* bytes, with the header */
	uint16_t ipv4_ident;		/* identification */
	uint8_t ipv4_flags;		/* upper 4 bits of its word: 4 do not fragment, 2 more fragments */
	uint16_t ipv4_offset;		/* of the fragment, in units of 8 bytes */
	uint8_t ipv4_ttl;		/* time to live */
	uint8_t ipv4_protocol;		/* IPPROTO_ of what it carries */
	string ipv4_protostr;		/* its name: TCP */
	uint16_t ipv4_checksum;		/* of the header, as it is there */
	ipaddr_t ipv4_src;		/* network byte order */
	ipaddr_t ipv4_dst;		/* network byte order */
	string ipv4_saddr;		/* source address; <none>: not of IPv4 */
	string ipv4_daddr;		/* destination address */
	struct iphdr *ipv4_hdr;		/* the header, in network byte order */
} ipv4info_t;

typedef struct ipv6info {
	uint8_t ipv6_ver;		/* 6; 0: it is not of IPv6, nor are the others */
	uint8_t ipv6_tclass;		/* traffic class */
	uint32_t ipv6_flow;		/* flow label */
	uint16_t ipv6_plen;		/* bytes after the header */
	uint8_t ipv6_nexthdr;		/* IPPROTO_ of what follows */
	string ipv6_nextstr;		/* its name: TCP */
	uint8_t ipv6_hlim;		/* hop limit */
	in6_addr_t *ipv6_src;		/* source address */
	in6_addr_t *ipv6_dst;		/* destination address */
	string ipv6_saddr;		/* source address; <none>: not of IPv6 */
	string ipv6_daddr;		/* destination address */
	struct ipv6hdr *ipv6_hdr;	/* the header, in network byte order */
} ipv6info_t;

inline int IPPROTO_ICMP = 1;
inline int IPPROTO_IGMP = 2;
inline int IPPROTO_TCP = 6;
inline int IPPROTO_UDP = 17;
inline int IPPROTO_IPV6 = 41;
inline int IPPROTO_ROUTING = 43;
inline int IPPROTO_FRAGMENT = 44;
inline int IPPROTO_ICMPV6 = 58;
inline int IPPROTO_SCTP = 132;

inline string ip_protocol_name[int P] = P == 6 ? "TCP" : P == 17 ? "UDP" : P == 1 ? "ICMP" : P == 58 ? "ICMPV6" :
    P == 2 ? "IGMP" : P == 132 ? "SCTP" : P == 47 ? "GRE" : P == 50 ? "ESP" : P == 51 ? "AH" :
    P == 41 ? "IPV6" : P == 43 ? "ROUTE" : P == 44 ? "FRAGMENT" : P == 89 ? "OSPF" : "<unknown>";

translator pktinfo_t < dbk_packet_t *P > {
	pkt_addr = (uintptr_t)P->skb;
};

translator csinfo_t < dbk_packet_t *P > {
	cs_addr = (uintptr_t)P->sock;
	cs_cid = P->sock == 0 ? 0 : ((struct sock *)P->sock)->__sk_common.skc_cookie.counter;
	cs_pid = -1;
	cs_zoneid = P->sock == 0 ? 0 : ((struct sock *)P->sock)->__sk_common.skc_net.net->ns.inum;
};

/* The addresses of a connection; AF_INET is 2. */
inline string sock_local[struct sock *S] = S->__sk_common.skc_family == 2 ?
    inet_ntoa((ipaddr_t *)&S->__sk_common.skc_rcv_saddr) :
    inet_ntoa6((in6_addr_t *)&S->__sk_common.skc_v6_rcv_saddr);
inline string sock_remote[struct sock *S] = S->__sk_common.skc_family == 2 ?
    inet_ntoa((ipaddr_t *)&S->__sk_common.skc_daddr) : inet_ntoa6((in6_addr_t *)&S->__sk_common.skc_v6_daddr);

inline string packet_source[dbk_packet_t *P] = P->version == 4 ? inet_ntoa((ipaddr_t *)(P->header + 12)) :
    P->version == 6 ? inet_ntoa6((in6_addr_t *)(P->header + 8)) : "<none>";
inline string packet_destination[dbk_packet_t *P] = P->version == 4 ? inet_ntoa((ipaddr_t *)(P->header + 16)) :
    P->version == 6 ? inet_ntoa6((in6_addr_t *)(P->header + 24)) : "<none>";

/*
 * The ends of a conversation are those of its socket, or, if that is of no one conversation (a listener, a socket of UDP that
 * is not connected) or there is none, those of the packet.  The module has looked which port it is.
 */
inline uint16_t local_port[dbk_packet_t *P] = ntohs(*(uint16_t *)P->local_port);
inline uint16_t remote_port[dbk_packet_t *P] = ntohs(*(uint16_t *)P->remote_port);
inline int is_one_conversation[dbk_packet_t *P] = P->sock != 0 && ((struct sock *)P->sock)->__sk_common.skc_dport != 0;
inline string local_address[dbk_packet_t *P] =
    P->sock != 0 && (P->header == 0 || is_one_conversation[P]) ? sock_local[(struct sock *)P->sock] :
    P->is_received ? packet_destination[P] : packet_source[P];
inline string remote_address[dbk_packet_t *P] =
    P->sock != 0 && (P->header == 0 || is_one_conversation[P]) ? sock_remote[(struct sock *)P->sock] :
    P->is_received ? packet_source[P] : packet_destination[P];

translator conninfo_t < struct sock *S > {
	ci_local = sock_local[S];
	ci_remote = sock_remote[S];
	ci_protocol = S->__sk_common.skc_family == 2 ? "ipv4" : "ipv6";
};

translator ipinfo_t < dbk_packet_t *P > {
	ip_ver = P->version;
	ip_plength = P->payload_bytes;
	ip_saddr = packet_source[P];
	ip_daddr = packet_destination[P];
};

/* IFF_LOOPBACK is 8. */
translator ifinfo_t < dbk_packet_t *P > {
	if_name = P->device == 0 ? "" : stringof(((struct net_device *)P->device)->name);
	if_local = P->device != 0 && (((struct net_device *)P->device)->flags & 8) != 0;
	if_ipstack = P->device == 0 ? 0 : ((struct net_device *)P->device)->nd_net.net->ns.inum;
	if_addr = (uintptr_t)P->device;
};

translator ipv4info_t < dbk_packet_t *P > {
	ipv4_ver = P->version == 4 ? 4 : 0;
	ipv4_ihl = P->version == 4 ? (*(uint8_t *)P->header & 15) * 4 : 0;
	ipv4_tos = P->version == 4 ? ((struct iphdr *)P->header)->tos : 0;
	ipv4_length = P->version == 4 ? ntohs(((struct iphdr *)P->header)->tot_len) : 0;
	ipv4_ident = P->version == 4 ? ntohs(((struct iphdr *)P->header)->id) : 0;
	ipv4_flags = P->version == 4 ? ntohs(((struct iphdr *)P->header)->frag_off) >> 12 : 0;
	ipv4_offset = P->version == 4 ? ntohs(((struct iphdr *)P->header)->frag_off) & 0x1fff : 0;
	ipv4_ttl = P->version == 4 ? ((struct iphdr *)P->header)->ttl : 0;
	ipv4_protocol = P->version == 4 ? ((struct iphdr *)P->header)->protocol : 0;
	ipv4_protostr = P->version == 4 ? ip_protocol_name[((struct iphdr *)P->header)->protocol] : "<none>";
	ipv4_checksum = P->version == 4 ? ntohs(((struct iphdr *)P->header)->check) : 0;
	ipv4_src = P->version == 4 ? *(ipaddr_t *)(P->header + 12) : 0;
	ipv4_dst = P->version == 4 ? *(ipaddr_t *)(P->header + 16) : 0;
	ipv4_saddr = P->version == 4 ? inet_ntoa((ipaddr_t *)(P->header + 12)) : "<none>";
	ipv4_daddr = P->version == 4 ? inet_ntoa((ipaddr_t *)(P->header + 16)) : "<none>";
	ipv4_hdr = (struct iphdr *)(P->version == 4 ? P->header : 0);
};

translator ipv6info_t < dbk_packet_t *P > {
	ipv6_ver = P->version == 6 ? 6 : 0;
	ipv6_tclass = P->version == 6 ? (ntohl(*(uint32_t *)P->header) >> 20) & 0xff : 0;
	ipv6_flow = P->version == 6 ? ntohl(*(uint32_t *)P->header) & 0xfffff : 0;
	ipv6_plen = P->version == 6 ? ntohs(((struct ipv6hdr *)P->header)->payload_len) : 0;
	ipv6_nexthdr = P->version == 6 ? ((struct ipv6hdr *)P->header)->nexthdr : 0;
	ipv6_nextstr = P->version == 6 ? ip_protocol_name[((struct ipv6hdr *)P->header)->nexthdr] : "<none>";
	ipv6_hlim = P->version == 6 ? ((struct ipv6hdr *)P->header)->hop_limit : 0;
	ipv6_src = (in6_addr_t *)(P->version == 6 ? P->header + 8 : 0);
	ipv6_dst = (in6_addr_t *)(P->version == 6 ? P->header + 24 : 0);
	ipv6_saddr = P->version == 6 ? inet_ntoa6((in6_addr_t *)(P->header + 8)) : "<none>";
	ipv6_daddr = P->version == 6 ? inet_ntoa6((in6_addr_t *)(P->header + 24)) : "<none>";
	ipv6_hdr = (struct ipv6hdr *)(P->version == 6 ? P->header : 0);
};

provider ip {
	probe send(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, ifinfo_t *P, ipv4info_t *P, ipv6info_t *P);
	probe receive(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, ifinfo_t *P, ipv4info_t *P, ipv6info_t *P);
};
