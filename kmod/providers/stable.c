// SPDX-License-Identifier: GPL-2.0-only
/*
 * stable.c - the providers that are tables: formats/abi/probes/ (docs/design/0083-providers-as-tables.md)
 *
 * A row becomes a callback, which asks its condition and fires with what it passes on, and a struct
 * place.  Places of one name are one probe, the first's that this kernel has.  A place is hooked
 * while its probe is enabled: at a tracepoint, or with the functions of provider fbt.
 *
 * Which places there are is found out when a program first names a probe: the functions of all rows
 * in one walk over the kernel's symbols.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include <uapi/linux/bpf.h>
#include <uapi/linux/sched.h>
#include <uapi/linux/sched/types.h>
#include <trace/events/lock.h>
#include <trace/events/module.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/sock.h>

#include "formats/abi/packet.h"
#include "kmod/kernel/tracepoint.h"
#include "kmod/providers/fbt.h"

enum kind { TRACEPOINT, ENTRY, RETURN };

/* What a callback is called with: one is part of a place, or on the stack while a function fires. */
struct firing {
	struct dbk_probe *probe;
	const struct dbk_frame *frame;
};

struct place {
	const char *provider, *module, *function, *name; /* [C] of the probe */
	const char *where;				 /* [C] */
	enum kind kind;				/* [C] */
	u8 arg_count;				/* [C] */
	void *callback;				/* [C] */

	struct dbk_probe probe;	       /* of the first place of the name */
	struct place *next;	       /* [S] of the same probe */
	struct firing firing;	       /* [C] once the probe is published */
	struct tracepoint *tracepoint; /* [C] likewise; NULL: a function */
	struct dbk_frame frame;	       /* [C] likewise, of the tracepoint */
	unsigned long address;	       /* [C] of the function, once functions were looked for; 0: not there */
	struct fbt_probe fbt;
	bool tried;		       /* [S] it was asked for */
	bool wanted, hooked;	       /* [S] of a tracepoint */
};

struct rq;

/* kernel/sched/sched.h */
#define DBK_ENQUEUE_HEAD 0x10

static __probe_ctx int dbk_priority_of(const struct sched_attr *attr)
{
	switch (attr->sched_policy) {
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

static __probe_ctx const char *dbk_name_of(const struct dentry *entry)
{
	return (const char *)READ_ONCE(entry->d_name.name);
}

/* Whether a packet with its header of IP is of @protocol; extension headers of IPv6 hide it. */
static __probe_ctx bool dbk_is_of(const struct sk_buff *skb, u8 protocol)
{
	return (ip_hdr(skb)->version == 4 ? ip_hdr(skb)->protocol : ipv6_hdr(skb)->nexthdr) == protocol;
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

static __probe_ctx void packet_fill(struct dbk_packet *packet, const struct sock *sk,
				    const struct sk_buff *skb)
{
	*packet = (struct dbk_packet){ .skb = (unsigned long)skb };
	if (sk && sk_fullsock(sk) && (sk->sk_protocol != IPPROTO_TCP || is_connection(sk))) {
		packet->sock = (unsigned long)sk;
		packet->state = packet->old_state = sk->sk_state;
	}
	if (!skb)
		return;
	packet->device = (unsigned long)skb->dev;
	packet->header = (unsigned long)skb_network_header(skb);
	packet->version = ip_hdr(skb)->version;
	packet->transport = packet->header + sizeof(struct ipv6hdr);
	if (packet->version == 6) {
		packet->payload_bytes = ntohs(ipv6_hdr(skb)->payload_len);
	} else {
		u32 bytes = ip_hdr(skb)->ihl * 4;

		packet->transport = packet->header + bytes;
		packet->payload_bytes = (ntohs(ip_hdr(skb)->tot_len) ?: skb->len) - bytes;
	}
	if (skb_transport_header_was_set(skb))
		packet->transport = (unsigned long)skb_transport_header(skb);
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

static __probe_ctx_inline void fire(const struct firing *firing, const u64 *args)
{
	dbk_probe_fire(dbk.engine, firing->probe, args, (void *)firing->frame);
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
#define PASS_PACKET(sock, skb)                                                                     \
	({                                                                                         \
		struct dbk_packet packet;                                                          \
		const u64 words[] = { WORD(skb), WORD(&packet) };                                  \
		packet_fill(&packet, sock, skb);                                                   \
		fire(at, words);                                                                   \
	})
#define PASS_STATES(sock, from, to)                                                                \
	({                                                                                         \
		struct dbk_packet packet;                                                          \
		const u64 words[] = { 0, WORD(&packet) };                                          \
		packet_fill(&packet, sock, NULL);                                                  \
		packet.old_state = from;                                                           \
		packet.state = to;                                                                 \
		fire(at, words);                                                                   \
	})
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition,     \
		  pass)                                                                            \
	static __probe_ctx void CALLBACK(provider) PARAMETERS parameters                           \
	{                                                                                          \
		const struct firing *firing = at;                                                  \
                                                                                                   \
		if (dbk_probe_is_enabled(firing->probe) && (condition))                            \
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

static struct place places[] = {
#define PASS_NONE() 0
#define PASS(...)   COUNT_ARGS(__VA_ARGS__)
#define PASS_PACKET(sock, skb) 2
#define PASS_STATES(sock, from, to) 2
#define DBK_PLACE(provider, module, function, name, since, kind, where, parameters, condition,     \
		  pass)                                                                            \
	{ #provider, module, function, name, #where, kind, pass, CALLBACK(provider) },
#define DBK_CODED(provider, name, since, kind, where)
#define DBK_ABSENT(provider, name, reason)
#include "formats/abi/probes/all.h"
#include "formats/abi/probes/end.h"
};

static bool functions_known; /* [S] */

/* Calling conventions pass N integers the same way whatever their types are. */
static __probe_ctx void on_function(struct fbt_probe *fbt, const u64 *args,
				    const struct dbk_frame *frame)
{
	struct place *place = container_of(fbt, struct place, fbt);
	void (*callback)(void *at, u64, u64, u64, u64, u64) = place->callback;
	struct firing firing = { .probe = place->firing.probe, .frame = frame };

	if (place->kind == RETURN)
		callback(&firing, args[1], args[2], 0, 0, 0);
	else
		callback(&firing, args[0], args[1], args[2], args[3], args[4]);
}

/* Whether @symbol is @name, or the copy of it that the compiler made of a static function. */
static bool is_named(const char *symbol, const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(symbol, name, bytes) == 0 &&
	       (symbol[bytes] == '\0' || strcmp(symbol + bytes, ".isra.0") == 0 ||
		strcmp(symbol + bytes, ".constprop.0") == 0);
}

/* Places by what their functions' names begin with: a kernel has 150 000 symbols. */
#define BUCKETS 64

struct search {
	struct {
		u16 count;
		struct place *places[ARRAY_SIZE(places)];
	} buckets[BUCKETS];
};

static u32 bucket_of(const char *name)
{
	return ((u8)name[0] * 5 + (name[0] ? (u8)name[1] : 0)) % BUCKETS;
}

static int search_symbol(void *data, const char *name, unsigned long address)
{
	struct search *search = data;
	u32 bucket = bucket_of(name);
	u32 i;

	for (i = 0; i < search->buckets[bucket].count; i++) {
		struct place *place = search->buckets[bucket].places[i];

		if (is_named(name, place->where) && place->address == 0)
			place->address = address;
	}
	return 0;
}

static int functions_find(void)
{
	struct search *search;
	int err;
	u32 i;

	if (functions_known)
		return 0;
	search = kvzalloc(sizeof(*search), GFP_KERNEL);
	if (!search)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		u32 bucket = bucket_of(places[i].where);

		if (places[i].kind != TRACEPOINT)
			search->buckets[bucket].places[search->buckets[bucket].count++] = &places[i];
	}
	err = dbk_symbols_walk(search_symbol, search);
	kvfree(search);
	if (err)
		pr_warn("the stable providers' functions cannot be found (error %d)\n", -err);
	functions_known = err == 0;
	return err;
}

/* Whether this kernel has the place; then it is ready to be hooked for @probe. */
static bool place_find(struct place *place, struct dbk_probe *probe)
{
	place->firing = (struct firing){ .probe = probe, .frame = &place->frame };
	if (place->kind == TRACEPOINT) {
		place->tracepoint = dbk_tracepoint_find(place->where);
		if (place->tracepoint)
			place->frame = dbk_tracepoint_frame(place->tracepoint);
		return place->tracepoint;
	}
	return functions_find() == 0 && place->address != 0 &&
	       fbt_hook_init(&place->fbt, probe, place->address,
			     place->kind == RETURN ? FBT_RETURN : FBT_ENTRY, on_function);
}

static bool is_same_probe(const struct place *a, const struct place *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->provider, b->provider) == 0 &&
	       strcmp(a->module, b->module) == 0 &&
	       strcmp(a->function, b->function) == 0;
}

/* Publishes the probe of @place, with all the places of its name that this kernel has. */
static int probe_publish(struct place *place)
{
	struct place *first = NULL, *last = NULL;
	struct place *other;

	for (other = place; other < places + ARRAY_SIZE(places); other++) {
		if (!is_same_probe(other, place))
			continue;
		other->tried = true;
		if (!place_find(other, first ? &first->probe : &other->probe))
			continue;
		if (last)
			last->next = other;
		else
			first = other;
		last = other;
	}
	return first ? dbk_probe_add(dbk.engine, &first->probe) : 0;
}

static int stable_provide(const struct dbk_probedesc *description)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		struct place *place = &places[i];
		int err;

		if (place->tried || !dbk_probedesc_match(description, &place->probe))
			continue;
		err = probe_publish(place);
		if (err)
			return err;
	}
	return 0;
}

static int stable_init(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		struct place *place = &places[i];

		place->probe = (struct dbk_probe){
			.provider = place->provider,
			.module = place->module,
			.function = place->function,
			.name = place->name,
			.host_data = (void *)&dbk_provider_stable,
		};
		dbk_probe_args_in_order(&place->probe, place->arg_count);
	}
	return 0;
}

static void stable_exit(void)
{
	struct dbk_retire retire;
	u32 i;

	dbk_state_assert();
	dbk_retire_begin(&retire, ARRAY_SIZE(places));
	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i].probe.id != 0)
			dbk_retire_add(&retire, &places[i].probe);
	dbk_retire_end(&retire);
}

static void stable_disable(struct dbk_probe *probe)
{
	struct place *place;

	dbk_state_assert();
	for (place = container_of(probe, struct place, probe); place; place = place->next) {
		if (place->kind == TRACEPOINT)
			place->wanted = false;
		else
			fbt_unhook(&place->fbt);
	}
}

/* The callbacks of one tracepoint are called in the order of their rows. */
static int tracepoint_hook(struct place *place)
{
	int priority = TRACEPOINT_DEFAULT_PRIO + (places + ARRAY_SIZE(places) - place);
	int err = 0;

	if (!place->hooked)
		err = tracepoint_probe_register_prio(place->tracepoint, place->callback,
						     &place->firing, priority);
	place->hooked = place->wanted = err == 0;
	return err;
}

static int stable_enable(struct dbk_probe *probe)
{
	struct place *place;

	dbk_state_assert();
	for (place = container_of(probe, struct place, probe); place; place = place->next) {
		int err = 0;

		if (place->kind == TRACEPOINT)
			err = tracepoint_hook(place);
		else
			fbt_hook(&place->fbt);
		if (err) {
			stable_disable(probe);
			return err;
		}
	}
	return 0;
}

/* Functions are settled with those of provider fbt. */
static int stable_settle(void)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		struct place *place = &places[i];

		if (!place->hooked || place->wanted)
			continue;
		tracepoint_probe_unregister(place->tracepoint, place->callback, &place->firing);
		place->hooked = false;
	}
	return 0;
}

const struct dbk_provider dbk_provider_stable = {
	.name = "*",
	.init = stable_init,
	.exit = stable_exit,
	.provide = stable_provide,
	.enable = stable_enable,
	.disable = stable_disable,
	.settle = stable_settle,
};
