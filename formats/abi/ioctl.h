/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * ioctl.h - what /dev/daybreak answers
 *
 * The device (root, 0400) is for control; the data itself is read by a
 * read-only mmap() of the regions that DBK_IOC_REGION lists, which hold segments
 * and metadata blocks and are scanned like a dump.  ioctl.md is the
 * specification.  Every call fails with a negative errno; calls that take DOF
 * write a sentence into the caller's reason buffer.
 */
#ifndef DBK_ABI_IOCTL_H
#define DBK_ABI_IOCTL_H

#include "abi.h"

#ifdef __KERNEL__
#include <linux/ioctl.h>
#else
#include <sys/ioctl.h>
#endif

#define DBK_DEVICE_PATH	    "/dev/daybreak"
#define DBK_IOC_ABI_VERSION 1
#define DBK_DOF_BYTES_MAX   (8u << 20) /* 8 MiB: what other ports accept */
#define DBK_REASON_BYTES    256u
#define DBK_RING_NAME_BYTES 32u /* with the NUL: what META_RING and the container have room for */

struct dbk_ioc_status {
	uint32_t abi_version;  /* out: DBK_IOC_ABI_VERSION */
	uint32_t ring_count;   /* out: rings that exist, ids need not be dense */
	uint32_t region_count; /* out: for DBK_IOC_REGION */
	uint32_t probe_count;  /* out: for DBK_IOC_PROBE */
	uint32_t anonymous;    /* out: rings without an owner */
	uint32_t reserved;
	char reason[DBK_REASON_BYTES]; /* out: why a DOF that came with the module was refused, or "" */
};

/* dbk_ioc_region.kind */
#define DBK_REGION_SEGMENTS 1u
#define DBK_REGION_META	    2u
#define DBK_REGION_BANK	    3u /* a half of the bank as it lies, bank.h: an earlier boot's */

struct dbk_ioc_region {
	uint32_t index;	  /* in: 0 .. region_count - 1; ENOENT after the last */
	uint32_t kind;	  /* out */
	uint32_t ring_id; /* out */
	uint32_t cpu;	  /* out; 0 for metadata */
	uint64_t offset;  /* out: for mmap() */
	uint64_t bytes;	  /* out */
};

struct dbk_ioc_ring {
	uint32_t ring_id;  /* in; for CLAIM: 0 means any, out: which */
	uint32_t activity; /* out: enum dbk_activity */
};

struct dbk_ioc_enable {
	uint64_t dof;	    /* in: address of the image */
	uint32_t dof_bytes; /* in: at most DBK_DOF_BYTES_MAX */
	uint32_t ring_id;   /* out */
	uint32_t matched;   /* out: probes matched now */
	uint32_t reserved;
	char reason[DBK_REASON_BYTES]; /* out: why it was refused, or what it may not do */
};

/* ENABLE for a ring with a name of the caller's choice, which no other ring has. */
struct dbk_ioc_enable_as {
	struct dbk_ioc_enable enable;
	char name[DBK_RING_NAME_BYTES]; /* in: NUL-terminated, of graphic ASCII, not empty */
};

/* dbk_ioc_holder.flags */
#define DBK_RING_EMBEDDED 0x1u /* it came with the module */
#define DBK_RING_HELD	  0x2u /* it has an owner */

/* Who holds a ring. */
struct dbk_ioc_holder {
	uint32_t ring_id; /* in */
	uint32_t flags;	  /* out: DBK_RING_ */
	uint32_t pid;	  /* out: of who enabled or claimed it last, in the first PID namespace; 0: no process did */
	uint32_t reserved;
	char comm[16]; /* out: its name, NUL-terminated */
};

/* dbk_ioc_probe.probe_id, in: list what exists, do not publish all functions first */
#define DBK_PROBE_ONLY_EXISTING 1u

struct dbk_ioc_probe {
	uint32_t index;	   /* in: 0 .. probe_count - 1; ENOENT after the last */
	uint32_t probe_id; /* in: 0 or DBK_PROBE_ONLY_EXISTING; out */
	char provider[64]; /* out: NUL-terminated */
	char module[64];
	char function[128];
	char name[64];
};

/* dbk_ioc_name.which */
#define DBK_NAME_PROVIDER 0u
#define DBK_NAME_MODULE	  1u
#define DBK_NAME_FUNCTION 2u
#define DBK_NAME_NAME	  3u
#define DBK_NAMES	  4u

/* A part of one of a probe's names; PROBE has the first 63 or, of the function, 127 bytes. */
struct dbk_ioc_name {
	uint32_t index;	   /* in: as of PROBE */
	uint32_t probe_id; /* in: what PROBE said; ESTALE: another has the index now */
	uint32_t at;	   /* in: the byte of the name that the part begins with; after its end: "" */
	uint32_t which;	   /* in: DBK_NAME_; of FUNCTION not looked at */
	char part[128];	   /* out: NUL-terminated; the name ends in it unless it has 127 bytes */
};

/* Publishes the probes that exist only when named; the names are parts of a description. */
struct dbk_ioc_provide {
	char provider[64]; /* in: NUL-terminated, as all four */
	char module[64];
	char function[128];
	char name[64];
};

/* Takes what one CPU has aggregated since the last call (aggregate=engine). EINVAL: there is no such CPU;
 * ENODATA: it does not aggregate, those after it may. */
struct dbk_ioc_aggsnap {
	uint32_t ring_id; /* in */
	uint32_t cpu;	  /* in */
	uint64_t buffer;  /* in: address of aggbuf_bytes bytes */
	uint32_t bytes;	  /* in: room; out: written, header included */
	uint32_t reserved;
};

/* Policy switch: the reader is done with a CPU's segments up to this one. */
struct dbk_ioc_release {
	uint32_t ring_id;  /* in */
	uint32_t cpu;	   /* in */
	uint64_t sequence; /* in: of the last segment that may be reused */
};

/* dbk_ioc_bank.use */
#define DBK_BANK_USE_NONE    0u /* no bank was asked for */
#define DBK_BANK_USE_RECORDS 1u /* rings lie in one of its halves */
#define DBK_BANK_USE_REFUSED 2u /* it cannot be used, `reason` says why */
#define DBK_BANK_USE_SALVAGE 3u /* it is only read */

/* What is in reserved memory. */
struct dbk_ioc_bank {
	uint32_t ring_id;	/* in: whose bytes inside_ and outside_bytes are; 0: all rings' */
	uint32_t use;		/* out: DBK_BANK_USE_ */
	uint64_t phys_addr;	/* out: of the bank */
	uint64_t bank_bytes;	/* out */
	uint64_t data_bytes;	/* out: what this boot's half has room for */
	uint64_t free_bytes;	/* out: of these */
	uint64_t inside_bytes;	/* out: of the ring, in the bank */
	uint64_t outside_bytes; /* out: of the ring, in ordinary memory, lost with this boot */
	uint64_t generation;	/* out: of this boot's half */
	uint32_t half;		/* out: this boot's, 0 or 1 */
	uint32_t reserved;
	char reason[DBK_REASON_BYTES]; /* out: why it is not used, or "" */
};

DBK_ABI_SIZE(struct dbk_ioc_bank, 328);
DBK_ABI_AT(struct dbk_ioc_bank, ring_id, 0);
DBK_ABI_AT(struct dbk_ioc_bank, use, 4);
DBK_ABI_AT(struct dbk_ioc_bank, phys_addr, 8);
DBK_ABI_AT(struct dbk_ioc_bank, bank_bytes, 16);
DBK_ABI_AT(struct dbk_ioc_bank, data_bytes, 24);
DBK_ABI_AT(struct dbk_ioc_bank, free_bytes, 32);
DBK_ABI_AT(struct dbk_ioc_bank, inside_bytes, 40);
DBK_ABI_AT(struct dbk_ioc_bank, outside_bytes, 48);
DBK_ABI_AT(struct dbk_ioc_bank, generation, 56);
DBK_ABI_AT(struct dbk_ioc_bank, half, 64);
DBK_ABI_AT(struct dbk_ioc_bank, reason, 72);
/* The newest trigger; poll(2) gives POLLPRI when one was entered after it. */
struct dbk_ioc_triggers {
	uint64_t sequence; /* out: of META_TRIGGERS' newest entry, 0: none */
};

DBK_ABI_SIZE(struct dbk_ioc_status, 280);
DBK_ABI_SIZE(struct dbk_ioc_region, 32);
DBK_ABI_SIZE(struct dbk_ioc_ring, 8);
DBK_ABI_SIZE(struct dbk_ioc_enable, 280);
DBK_ABI_SIZE(struct dbk_ioc_enable_as, 312);
DBK_ABI_AT(struct dbk_ioc_enable_as, name, 280);
DBK_ABI_SIZE(struct dbk_ioc_holder, 32);
DBK_ABI_AT(struct dbk_ioc_holder, ring_id, 0);
DBK_ABI_AT(struct dbk_ioc_holder, flags, 4);
DBK_ABI_AT(struct dbk_ioc_holder, pid, 8);
DBK_ABI_AT(struct dbk_ioc_holder, comm, 16);
DBK_ABI_SIZE(struct dbk_ioc_probe, 328);
DBK_ABI_SIZE(struct dbk_ioc_name, 144);
DBK_ABI_AT(struct dbk_ioc_name, index, 0);
DBK_ABI_AT(struct dbk_ioc_name, probe_id, 4);
DBK_ABI_AT(struct dbk_ioc_name, at, 8);
DBK_ABI_AT(struct dbk_ioc_name, which, 12);
DBK_ABI_AT(struct dbk_ioc_name, part, 16);
DBK_ABI_SIZE(struct dbk_ioc_provide, 320);
DBK_ABI_SIZE(struct dbk_ioc_aggsnap, 24);
DBK_ABI_SIZE(struct dbk_ioc_release, 16);
DBK_ABI_SIZE(struct dbk_ioc_triggers, 8);
DBK_ABI_AT(struct dbk_ioc_triggers, sequence, 0);
DBK_ABI_AT(struct dbk_ioc_status, abi_version, 0);
DBK_ABI_AT(struct dbk_ioc_status, ring_count, 4);
DBK_ABI_AT(struct dbk_ioc_status, region_count, 8);
DBK_ABI_AT(struct dbk_ioc_status, probe_count, 12);
DBK_ABI_AT(struct dbk_ioc_status, anonymous, 16);
DBK_ABI_AT(struct dbk_ioc_status, reason, 24);
DBK_ABI_AT(struct dbk_ioc_region, index, 0);
DBK_ABI_AT(struct dbk_ioc_region, kind, 4);
DBK_ABI_AT(struct dbk_ioc_region, ring_id, 8);
DBK_ABI_AT(struct dbk_ioc_region, cpu, 12);
DBK_ABI_AT(struct dbk_ioc_region, offset, 16);
DBK_ABI_AT(struct dbk_ioc_region, bytes, 24);
DBK_ABI_AT(struct dbk_ioc_ring, ring_id, 0);
DBK_ABI_AT(struct dbk_ioc_ring, activity, 4);
DBK_ABI_AT(struct dbk_ioc_enable, dof, 0);
DBK_ABI_AT(struct dbk_ioc_enable, dof_bytes, 8);
DBK_ABI_AT(struct dbk_ioc_enable, ring_id, 12);
DBK_ABI_AT(struct dbk_ioc_enable, matched, 16);
DBK_ABI_AT(struct dbk_ioc_enable, reason, 24);
DBK_ABI_AT(struct dbk_ioc_probe, index, 0);
DBK_ABI_AT(struct dbk_ioc_probe, probe_id, 4);
DBK_ABI_AT(struct dbk_ioc_probe, provider, 8);
DBK_ABI_AT(struct dbk_ioc_probe, module, 72);
DBK_ABI_AT(struct dbk_ioc_probe, function, 136);
DBK_ABI_AT(struct dbk_ioc_probe, name, 264);
DBK_ABI_AT(struct dbk_ioc_provide, provider, 0);
DBK_ABI_AT(struct dbk_ioc_provide, module, 64);
DBK_ABI_AT(struct dbk_ioc_provide, function, 128);
DBK_ABI_AT(struct dbk_ioc_provide, name, 256);
DBK_ABI_AT(struct dbk_ioc_aggsnap, ring_id, 0);
DBK_ABI_AT(struct dbk_ioc_aggsnap, cpu, 4);
DBK_ABI_AT(struct dbk_ioc_aggsnap, buffer, 8);
DBK_ABI_AT(struct dbk_ioc_aggsnap, bytes, 16);
DBK_ABI_AT(struct dbk_ioc_release, ring_id, 0);
DBK_ABI_AT(struct dbk_ioc_release, cpu, 4);
DBK_ABI_AT(struct dbk_ioc_release, sequence, 8);

/* 0xDB: free in the kernel's ioctl-number table. */
#define DBK_IOC_STATUS _IOR(0xDB, 0, struct dbk_ioc_status)
#define DBK_IOC_REGION _IOWR(0xDB, 1, struct dbk_ioc_region)
#define DBK_IOC_CLAIM                                                                              \
	_IOWR(0xDB, 2,                                                                             \
	      struct dbk_ioc_ring) /* an anonymous ring becomes the caller's; ENOENT: none left */
#define DBK_IOC_ENABLE                                                                             \
	_IOWR(0xDB, 3,                                                                             \
	      struct dbk_ioc_enable) /* verify, make a ring, arm; the caller's until closed */
#define DBK_IOC_STOP                                                                               \
	_IOWR(0xDB, 4, struct dbk_ioc_ring) /* fires END, then nothing more is recorded */
#define DBK_IOC_DESTROY                                                                            \
	_IOWR(0xDB, 5, struct dbk_ioc_ring) /* a stopped or running ring of the caller goes */
#define DBK_IOC_PROBE	_IOWR(0xDB, 6, struct dbk_ioc_probe)
#define DBK_IOC_AGGSNAP _IOWR(0xDB, 7, struct dbk_ioc_aggsnap)
#define DBK_IOC_RELEASE _IOW(0xDB, 8, struct dbk_ioc_release)
#define DBK_IOC_PROVIDE _IOW(0xDB, 9, struct dbk_ioc_provide)
#define DBK_IOC_DETACH                                                                             \
	_IOWR(0xDB, 10, struct dbk_ioc_ring) /* a ring of the caller goes on without an owner */
#define DBK_IOC_BANK _IOWR(0xDB, 12, struct dbk_ioc_bank)
#define DBK_IOC_TRIGGERS_SEEN                                                                      \
	_IOR(0xDB, 11, struct dbk_ioc_triggers) /* this opener has seen all triggers so far */
#define DBK_IOC_ENABLE_AS                                                                          \
	_IOWR(0xDB, 13, struct dbk_ioc_enable_as) /* EEXIST: another ring has that name */
#define DBK_IOC_HOLDER _IOWR(0xDB, 14, struct dbk_ioc_holder)
#define DBK_IOC_FUNCTION _IOWR(0xDB, 15, struct dbk_ioc_name) /* NAME of the function */
#define DBK_IOC_NAME _IOWR(0xDB, 16, struct dbk_ioc_name)
#define DBK_IOC_COUNT _IOW(0xDB, 17, struct dbk_ioc_provide) /* PROVIDE; returns how many there are */

#endif /* DBK_ABI_IOCTL_H */
