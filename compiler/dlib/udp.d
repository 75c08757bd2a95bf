/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider udp: datagrams as udpinfo_t, sockets as udpsinfo_t.
 */
#pragma D depends_on library ip.d

typedef struct udpinfo {
	uint16_t udp_sport;		/* source port */
	uint16_t udp_dport;		/* destination port */
	uint16_t udp_length;		/* with the header */
	uint16_t udp_checksum;		/* as it is in the header */
	struct udphdr *udp_hdr;		/* the header, in network byte order */
} udpinfo_t;

typedef struct udpsinfo {
	uintptr_t udps_addr;		/* of the struct sock; 0: none, and what only it has is 0 */
	uint16_t udps_lport;		/* local port */
	uint16_t udps_rport;		/* remote port */
	string udps_laddr;		/* local address */
	string udps_raddr;		/* remote address */
} udpsinfo_t;

translator udpinfo_t < dbk_packet_t *P > {
	udp_sport = ntohs(((struct udphdr *)P->transport)->source);
	udp_dport = ntohs(((struct udphdr *)P->transport)->dest);
	udp_length = ntohs(((struct udphdr *)P->transport)->len);
	udp_checksum = ntohs(((struct udphdr *)P->transport)->check);
	udp_hdr = (struct udphdr *)P->transport;
};

translator udpsinfo_t < dbk_packet_t *P > {
	udps_addr = (uintptr_t)P->sock;
	udps_lport = local_port[P];
	udps_rport = remote_port[P];
	udps_laddr = local_address[P];
	udps_raddr = remote_address[P];
};

provider udp {
	probe send(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, udpsinfo_t *P, udpinfo_t *P);
	probe receive(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, udpsinfo_t *P, udpinfo_t *P);
};
