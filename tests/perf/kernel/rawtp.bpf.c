// SPDX-License-Identifier: GPL-2.0-only
/*
 * rawtp.bpf.c - the best peer: eBPF on a raw tracepoint
 *
 * The same record as bare.c stores, into a per-CPU array that overwrites its
 * oldest entry, as hand-written eBPF would do for a flight recorder.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#define RING_SLOTS (1u << 16)

struct slot {
	__u64 mono_ns;
	__u64 number;
	__u64 argument;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RING_SLOTS);
	__type(key, __u32);
	__type(value, struct slot);
} ring SEC(".maps");

SEC("raw_tp/sys_enter")
int record(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 index = 0;
	__u64 *count = bpf_map_lookup_elem(&seen, &index);
	struct slot *slot;

	if (!count)
		return 0;
	index = (*count)++ & (RING_SLOTS - 1);
	slot = bpf_map_lookup_elem(&ring, &index);
	if (!slot)
		return 0;
	slot->mono_ns = bpf_ktime_get_ns();
	slot->number = ctx->args[1];
	slot->argument = ctx->args[0];
	return 0;
}

char program_license[] SEC("license") = "GPL";
