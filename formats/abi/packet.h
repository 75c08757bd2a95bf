/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * packet.h - what the D translators of providers ip, tcp, udp and sctp read
 *
 * Made on the stack of a firing; ip.d of compiler/dlib/ has the same.
 */
#ifndef DBK_ABI_PACKET_H
#define DBK_ABI_PACKET_H

#include "formats/abi/abi.h"

struct dbk_packet {
	uint64_t skb;	    /* its struct sk_buff; 0: a change without a packet */
	uint64_t sock;	    /* its struct sock, of a TCP connection a struct tcp_sock; 0: none */
	uint64_t header;    /* of IP; 0: none */
	uint64_t transport; /* the header after it */
	uint64_t device;    /* struct net_device; 0: not known yet */
	uint32_t version;   /* 4, 6; 0: without a header */
	uint32_t payload_bytes; /* after the header of IP */
	int32_t state;	    /* of the connection, the new one when it changes */
	int32_t old_state;
	uint64_t is_received; /* 0: it is sent */
	uint64_t local_port;  /* address of 2 bytes, network byte order: the socket's if it has both, else the packet's */
	uint64_t remote_port;
};
DBK_ABI_SIZE(struct dbk_packet, 80);
DBK_ABI_AT(struct dbk_packet, skb, 0);
DBK_ABI_AT(struct dbk_packet, sock, 8);
DBK_ABI_AT(struct dbk_packet, header, 16);
DBK_ABI_AT(struct dbk_packet, transport, 24);
DBK_ABI_AT(struct dbk_packet, device, 32);
DBK_ABI_AT(struct dbk_packet, version, 40);
DBK_ABI_AT(struct dbk_packet, payload_bytes, 44);
DBK_ABI_AT(struct dbk_packet, state, 48);
DBK_ABI_AT(struct dbk_packet, old_state, 52);
DBK_ABI_AT(struct dbk_packet, is_received, 56);
DBK_ABI_AT(struct dbk_packet, local_port, 64);
DBK_ABI_AT(struct dbk_packet, remote_port, 72);

#endif /* DBK_ABI_PACKET_H */
