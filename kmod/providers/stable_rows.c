// SPDX-License-Identifier: GPL-2.0-only
/*
 * stable_rows.c - the rows of the stable providers: formats/abi/probes/ (docs/design/0083-providers-as-tables.md)
 *
 * A row becomes a callback, which asks its condition and fires with what it passes on, and a row of a table.
 */
#include <linux/buffer_head.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/hrtimer.h>
#include <linux/icmp.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/version.h>
#include <net/tcp.h>
#include <uapi/linux/bpf.h>
#include <uapi/linux/sched.h>
#include <uapi/linux/sched/types.h>
#include <trace/events/kmem.h>
#include <trace/events/lock.h>
#include <trace/events/module.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/sock.h>
#include <trace/events/tcp.h>
#include <trace/events/timer.h>
#include <trace/events/workqueue.h>

#include "formats/abi/packet.h"
#include "arch/tracepoints.h"
#include "kmod/providers/io_args.h"
#include "kmod/providers/stable.h"
#include "kmod/providers/wait.h"

struct rq;

/* kernel/sched/sched.h */
#define DBK_ENQUEUE_HEAD 0x10

/* sched_setparam() asks for no policy (-1): the thread keeps its own. */
static __probe_ctx int dbk_priority_of(const struct task_struct *task, const struct sched_attr *attr)
{
	switch ((int)attr->sched_policy < 0 ? task->policy : attr->sched_policy) {
	case SCHED_DEADLINE:
		return -1;
	case SCHED_FIFO:
	case SCHED_RR:
		return MAX_RT_PRIO - 1 - (int)attr->sched_priority;
	default:
		return NICE_TO_PRIO(attr->sched_nice);
	}
}

/* DTrace's number of a machine fault, 0: a signal of another kind. */
static __probe_ctx int dbk_fault_of(int signal, const struct kernel_siginfo *info)
{
	if (info == SEND_SIG_NOINFO || info == SEND_SIG_PRIV || info->si_code <= 0)
		return 0;
	switch (signal) {
	case SIGILL:
		return 1;
	case SIGTRAP:
		return info->si_code == TRAP_TRACE ? 4 : 3;
	case SIGBUS:
		return 5;
	case SIGSEGV:
		return 6;
	case SIGFPE:
		return info->si_code == FPE_INTDIV ? 8 : 9;
	default:
		return 0;
	}
}

static __probe_ctx u64 dbk_exit_reason(const struct task_struct *task)
{
	const struct signal_struct *signal = task->signal;
	int code = signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code : task->exit_code;

	if ((code & 0x7f) == 0)
		return CLD_EXITED;
	return code & 0x80 ? CLD_DUMPED : CLD_KILLED;
}

static __probe_ctx const char *dbk_name_of(const struct dentry *entry)
{
	return (const char *)READ_ONCE(entry->d_name.name);
}

/* Whether a packet with its header of IP is of @protocol.  Extension headers of IPv6 hide it, but for that of a segment of
 * more than 64 KiB (BIG TCP), whose header has no length and whose first byte after it is the protocol. */
static __probe_ctx bool dbk_is_of(const struct sk_buff *skb, u8 protocol)
{
	const struct ipv6hdr *header = ipv6_hdr(skb);

	if (header->version == 4)
		return ip_hdr(skb)->protocol == protocol;
	if (header->nexthdr == NEXTHDR_HOP && header->payload_len == 0)
		return *(const u8 *)(header + 1) == protocol;
	return header->nexthdr == protocol;
}

/* Sockets that wait for a handshake's end, or for old packets, are smaller than a struct sock; resets are
 * sent by a raw one of the kernel's. */
static __probe_ctx bool is_connection(const struct sock *sk)
{
	return sk && sk_fullsock(sk) && sk->sk_type == SOCK_STREAM && sk->sk_protocol == IPPROTO_TCP;
}

static __probe_ctx bool dbk_is_syn(const struct sk_buff *skb)
{
	const struct tcphdr *header = tcp_hdr(skb);

	return header->syn && !header->ack && !header->rst;
}

static __probe_ctx bool dbk_is_first_syn(const struct sock *sk, const struct sk_buff *skb)
{
	return is_connection(sk) && dbk_is_of(skb, IPPROTO_TCP) && dbk_is_syn(skb) &&
	       inet_csk(sk)->icsk_retransmits == 0;
}

/* Those of the packet that the kernel has taken off, as it receives it, too. */
static __probe_ctx_inline u32 bytes_from_header(const struct sk_buff *skb)
{
	return skb->len - skb_network_offset(skb);
}

/* What a listener sends (IPv6: as itself; IPv4: as a request) begins a connection. */
static __probe_ctx_inline int state_of(const struct sock *sk, bool received)
{
	int state = sk->sk_state;

	if (unlikely(state == TCP_NEW_SYN_RECV || (state == TCP_LISTEN && !received && is_connection(sk))))
		return TCP_SYN_RECV;
	return state;
}

/* Where the headers lie; member by member: a structure of zeros first costs as much as them all. */
static __probe_ctx_inline void headers_fill(struct dbk_packet *packet, const struct sk_buff *skb)
{
	u32 bytes = sizeof(struct ipv6hdr), length;

	packet->device = (unsigned long)skb->dev;
	packet->header = (unsigned long)skb_network_header(skb);
	packet->version = ip_hdr(skb)->version;
	if (packet->version == 6) {
		length = ntohs(ipv6_hdr(skb)->payload_len);
		if (length != 0)
			length += bytes;
	} else {
		bytes = ip_hdr(skb)->ihl * 4;
		length = ntohs(ip_hdr(skb)->tot_len);
	}
	/* Of BIG TCP neither header has a length. */
	packet->payload_bytes = (length ?: bytes_from_header(skb)) - bytes;
	packet->transport = skb_transport_header_was_set(skb) ?
		(unsigned long)skb_transport_header(skb) : packet->header + bytes;
}

static __probe_ctx_inline void socket_ports(struct dbk_packet *packet, const struct sock *sk)
{
	packet->local_port = (unsigned long)&inet_sk(sk)->inet_sport;
	packet->remote_port = (unsigned long)&sk->sk_dport;
}

static __probe_ctx void packet_fill(struct dbk_packet *packet, const struct sock *sk,
				    const struct sk_buff *skb, bool received)
{
	bool is_full = sk && sk_fullsock(sk);

	packet->skb = (unsigned long)skb;
	packet->is_received = received;
	packet->sock = is_full && (sk->sk_protocol != IPPROTO_TCP || sk->sk_type == SOCK_STREAM) ?
		(unsigned long)sk : 0;
	packet->state = packet->sock || (sk && !is_full) ? state_of(sk, received) : 0;
	packet->old_state = packet->state;
	headers_fill(packet, skb);
	/* The source's is the first in the header of TCP, UDP and SCTP, and the destination's the second. */
	if (packet->sock && sk->sk_dport) {
		socket_ports(packet, sk);
	} else {
		packet->local_port = packet->transport + (received ? 2 : 0);
		packet->remote_port = packet->transport + (received ? 0 : 2);
	}
}

/* A change of a socket's state, without a packet. */
static __probe_ctx_inline void change_fill(struct dbk_packet *packet, const struct sock *sk, int from,
					   int to)
{
	packet->skb = packet->header = packet->transport = packet->device = 0;
	packet->version = packet->payload_bytes = 0;
	packet->is_received = false;
	packet->sock = (unsigned long)sk;
	packet->old_state = from;
	packet->state = to;
	socket_ports(packet, sk);
}

/* What a thread waits for: @bio before it is submitted, which makes it one of the whole disk unless it is of no sector. */
static __probe_ctx struct dbk_wait dbk_wait_of_bio(const struct bio *bio)
{
	return (struct dbk_wait){
		.bytes = bio->bi_iter.bi_size,
		.sector = bio->bi_iter.bi_sector +
			  (bio->bi_iter.bi_size ? bio->bi_bdev->bd_start_sect : 0),
	};
}

/* A block that has no contents yet is being read. */
static __probe_ctx struct dbk_wait dbk_wait_of_buffer(const struct buffer_head *buffer)
{
	return (struct dbk_wait){
		.is_reader = !buffer_uptodate(buffer),
		.bytes = buffer->b_size,
		.sector = buffer->b_blocknr * (buffer->b_size >> SECTOR_SHIFT) +
			  buffer->b_bdev->bd_start_sect,
	};
}

static __probe_ctx void request_fill(struct dbk_io *io, struct dbk_wait wait, u64 left_bytes, u8 error)
{
	io->sector = wait.sector;
	io->bytes = wait.bytes;
	io->left_bytes = left_bytes;
	io->error = error;
}

static __probe_ctx void dbk_bio_fill(struct dbk_io *io, struct bio *bio, struct dbk_wait wait)
{
	u8 error = (__force u8)bio->bi_status;

	dbk_io_set_bio(io, bio);
	io->operation |= REQ_SYNC; /* which the kernel has yet to add at the start */
	request_fill(io, wait, error ? bio->bi_iter.bi_size : 0, error);
}

static __probe_ctx void dbk_buffer_fill(struct dbk_io *io, const struct buffer_head *buffer,
					struct dbk_wait wait)
{
	io->bio = (unsigned long)buffer;
	dbk_io_set_device(io, buffer->b_bdev);
	io->operation = wait.is_reader ? REQ_OP_READ : REQ_OP_WRITE | REQ_SYNC;
	io->is_buffer = true;
	dbk_io_set_page(io, buffer->b_page, bh_offset(buffer), NULL);
	request_fill(io, wait, 0, 0);
}

/* A row's callback is called with its firing and what the place has. */
#define CALLBACK(provider)	       CALLBACK_AT(provider, __LINE__)
#define CALLBACK_AT(provider, line)    CALLBACK_NAME(provider, line)
#define CALLBACK_NAME(provider, line)  on_##provider##_##line
#define CHECK(provider)		       CHECK_AT(provider, __LINE__)
#define CHECK_AT(provider, line)       CHECK_NAME(provider, line)
#define CHECK_NAME(provider, line)     check_##provider##_##line
#define PARAMETERS(...)		       (void *at, ##__VA_ARGS__)

/* A word is an argument: a pointer, or a number with its sign. */
#define WORD(value)	(u64)(unsigned long)(value)
#define WORDS_1(a)	WORD(a)
#define WORDS_2(a, ...) WORD(a), WORDS_1(__VA_ARGS__)
#define WORDS_3(a, ...) WORD(a), WORDS_2(__VA_ARGS__)
#define WORDS_4(a, ...) WORD(a), WORDS_3(__VA_ARGS__)
#define WORDS_5(a, ...) WORD(a), WORDS_4(__VA_ARGS__)

static __probe_ctx_inline void fire(const struct stable_firing *firing, const u64 *args)
{
	dbk_probe_fire(firing->probe, args, (void *)firing->frame);
}

/* The kernel declares what a tracepoint has: a kernel with other arguments does not build. */
#define CHECK_TRACEPOINT(where, callback) check_trace_callback_type_##where(callback)
#define CHECK_ENTRY(where, callback)	  ((void)callback)
#define CHECK_RETURN(where, callback)	  ((void)callback)

#define PASS_NONE()                                                                                \
	({                                                                                         \
		const u64 words[1] = { 0 };                                                        \
		fire(at, words);                                                                   \
	})
#define PASS(...)                                                                                  \
	({                                                                                         \
		const u64 words[] = { CONCATENATE(WORDS_, COUNT_ARGS(__VA_ARGS__))(__VA_ARGS__) }; \
		fire(at, words);                                                                   \
	})
#define PASS_PACKET(sock, skb, received)                                                           \
	({                                                                                         \
		struct dbk_packet packet;                                                          \
		const u64 words[] = { WORD(skb), WORD(&packet) };                                  \
		packet_fill(&packet, sock, skb, received);                                         \
		fire(at, words);                                                                   \
	})
#define PASS_SENT(sock, skb)	 PASS_PACKET(sock, skb, false)
#define PASS_RECEIVED(sock, skb) PASS_PACKET(sock, skb, true)
#define PASS_STATES(sock, from, to)                                                                \
	({                                                                                         \
		struct dbk_packet packet;                                                          \
		const u64 words[] = { 0, WORD(&packet) };                                          \
		change_fill(&packet, sock, from, to);                                              \
		fire(at, words);                                                                   \
	})
#define PASS_WAIT(lock, error)                                                                     \
	({                                                                                         \
		struct dbk_wait wait;                                                              \
		if (dbk_wait_ends(probe, lock, &wait) && !(error)) {                               \
			const u64 words[] = { WORD(lock), wait.ns, wait.is_reader };               \
			fire(at, words);                                                           \
		}                                                                                  \
	})
/* A request that a thread is about to wait for, or @wait is what it waited for. */
#define PASS_REQUEST(request, set, wait)                                                           \
	({                                                                                         \
		struct dbk_io io;                                                                  \
		const u64 words[] = { WORD(request), WORD(&io) };                                  \
		set(&io, request, wait);                                                           \
		fire(at, words);                                                                   \
	})
#define PASS_REQUEST_DONE(request, set)                                                            \
	({                                                                                         \
		struct dbk_wait wait;                                                              \
		if (dbk_wait_ends(probe, request, &wait))                                          \
			PASS_REQUEST(request, set, wait);                                          \
	})
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition,     \
		  pass)                                                                            \
	static __probe_ctx void CALLBACK(provider) PARAMETERS parameters                           \
	{                                                                                          \
		struct dbk_probe *probe = ((const struct stable_firing *)at)->probe;               \
                                                                                                   \
		if (dbk_probe_is_enabled(probe) && (condition))                                    \
			pass;                                                                      \
	}                                                                                          \
	static __maybe_unused void CHECK(provider)(void)                                           \
	{                                                                                          \
		CHECK_##kind(where, CALLBACK(provider));                                           \
	}
#define DBK_CODED(provider, name, since, kind, where)
#define DBK_ABSENT(provider, name, reason)
#include "formats/abi/probes/all.h"
#include "formats/abi/probes/end.h"

/* Where each row's text is: a member of the size of each. */
#define TEXT(provider, module, function, name, where)                                              \
	#provider "\0" module "\0" function "\0" name "\0" #where
#define DBK_CODED(provider, name, since, kind, where)
#define DBK_ABSENT(provider, name, reason)
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition,     \
		  pass)                                                                            \
	char CALLBACK(provider)[sizeof(TEXT(provider, module, function, name, where))];
static const struct texts {
#include "formats/abi/probes/all.h"
} texts = {
#undef DBK_PLACE
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition,     \
		  pass)                                                                            \
	TEXT(provider, module, function, name, where),
#include "formats/abi/probes/all.h"
#include "formats/abi/probes/end.h"
};
const char *const stable_texts = (const char *)&texts;
const u32 stable_text_bytes = sizeof(texts);

#define PASS_NONE() 0
#define PASS(...)   COUNT_ARGS(__VA_ARGS__)
#define PASS_SENT(sock, skb) 2
#define PASS_RECEIVED(sock, skb) 2
#define PASS_STATES(sock, from, to) 2
#define PASS_WAIT(lock, error) 3
#define PASS_REQUEST(request, set, wait) 2
#define PASS_REQUEST_DONE(request, set) 2
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition,     \
		  pass)                                                                            \
	{ CALLBACK(provider), offsetof(struct texts, CALLBACK(provider)), kind, pass },
#define DBK_CODED(provider, name, since, kind, where)
#define DBK_ABSENT(provider, name, reason)
const struct stable_row stable_rows[] = {
#include "formats/abi/probes/all.h"
#include "formats/abi/probes/end.h"
};
const u32 stable_row_count = ARRAY_SIZE(stable_rows);
static_assert(sizeof(texts) <= U16_MAX);

/* Calling conventions pass N integers the same way whatever their types are. */
__probe_ctx void stable_on_function(struct fbt_probe *fbt, const u64 *args,
				     const struct dbk_frame *frame)
{
	struct stable_place *place = container_of(fbt, struct stable_place, fbt);
	void (*callback)(void *at, u64, u64, u64, u64, u64) = place->row->callback;
	struct stable_firing firing = { .probe = place->firing.probe, .frame = frame };

	if (place->row->kind == RETURN)
		callback(&firing, args[1], args[2], 0, 0, 0);
	else
		callback(&firing, args[0], args[1], args[2], args[3], args[4]);
}
