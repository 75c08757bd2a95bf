/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider sctp: packets as sctpinfo_t, sockets as sctpsinfo_t.
 */
#pragma D depends_on library ip.d

/* Of a socket: include/net/sctp/constants.h of the Linux kernel. */
inline int SCTP_STATE_ESTABLISHED = 1;
inline int SCTP_STATE_ESTABLISHING = 2;
inline int SCTP_STATE_CLOSED = 7;
inline int SCTP_STATE_CLOSING = 8;
inline int SCTP_STATE_LISTENING = 10;

inline string sctp_state_string[int32_t S] = S == 1 ? "state-established" : S == 2 ? "state-establishing" :
    S == 7 ? "state-closed" : S == 8 ? "state-closing" : S == 10 ? "state-listening" : "<unknown>";

/* The kernel's own types are those of its module. */
typedef struct sctp_hdr {
	uint16_t sh_sport;		/* network byte order */
	uint16_t sh_dport;		/* network byte order */
	uint32_t sh_verf;		/* verification tag, network byte order */
	uint32_t sh_chksum;		/* network byte order */
} sctp_hdr_t;

typedef struct sctpinfo {
	uint16_t sctp_sport;		/* source port */
	uint16_t sctp_dport;		/* destination port */
	uint32_t sctp_verify;		/* verification tag */
	uint32_t sctp_checksum;		/* as it is in the header */
	sctp_hdr_t *sctp_hdr;		/* the header */
} sctpinfo_t;

typedef struct sctpsinfo {
	uintptr_t sctps_addr;		/* of the struct sock; 0: none, and what only it has is 0 */
	uint16_t sctps_lport;		/* local port */
	uint16_t sctps_rport;		/* remote port */
	string sctps_laddr;		/* local address */
	string sctps_raddr;		/* remote address */
	int32_t sctps_state;		/* of the socket */
} sctpsinfo_t;

typedef struct sctplsinfo {
	int32_t sctps_state;		/* the one before */
} sctplsinfo_t;

translator sctpinfo_t < dbk_packet_t *P > {
	sctp_sport = P->transport == 0 ? 0 : ntohs(((sctp_hdr_t *)P->transport)->sh_sport);
	sctp_dport = P->transport == 0 ? 0 : ntohs(((sctp_hdr_t *)P->transport)->sh_dport);
	sctp_verify = P->transport == 0 ? 0 : ntohl(((sctp_hdr_t *)P->transport)->sh_verf);
	sctp_checksum = P->transport == 0 ? 0 : ((sctp_hdr_t *)P->transport)->sh_chksum;
	sctp_hdr = (sctp_hdr_t *)P->transport;
};

translator sctpsinfo_t < dbk_packet_t *P > {
	sctps_addr = (uintptr_t)P->sock;
	sctps_lport = local_port[P];
	sctps_rport = remote_port[P];
	sctps_laddr = local_address[P];
	sctps_raddr = remote_address[P];
	sctps_state = P->state;
};

translator sctplsinfo_t < dbk_packet_t *P > {
	sctps_state = P->old_state;
};

provider sctp {
	probe send(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, sctpsinfo_t *P, sctpinfo_t *P);
	probe receive(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, sctpsinfo_t *P, sctpinfo_t *P);
	probe state__change(struct sk_buff *B, dbk_packet_t *P) :
	    (pktinfo_t *P, csinfo_t *P, ipinfo_t *P, sctpsinfo_t *P, sctpinfo_t *P, sctplsinfo_t *P);
};
