/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - what the module is made of, and its locks
 *
 * Theory.  There is one engine.  Providers publish probes in it.  A ring is one
 * enabling at work: an engine consumer with a name for people and, when a process
 * claimed or made it through the device, an owner.  Control operations (load,
 * enable, stop, destroy, list; modules coming and going) run one at a time;
 * firing probes runs beside all of them and takes no lock.
 *
 * Enabling and disabling tens of thousands of probes takes seconds, under [S].  So no caller waits
 * for [S] who cannot be killed meanwhile:
 *
 *   ioctl            killable; what only looks (status, regions, mmap) takes [L] alone
 *   close            leaves its rings to a worker when [S] is taken
 *   our workers      try again later
 *   module notifier  hands its module to the holder of [S], which handles it between two steps of
 *                    what takes long (dbk_settle_pause())
 *   kill -9          ends an enabling between two steps
 *
 *   /dev/daybreak --ioctl--> rings --> engine --probe_enable/settle--> providers --> kernel's hooks
 *                                        ^                                              |
 *                                        +------------- dbk_probe_fire() <--------------+
 *
 * Locks, outermost first.  A function that needs one asserts it on its first line.
 *
 *   the kernel's own, held by our caller:
 *     mmap_lock              device mmap
 *     tracepoint module list, module notifier chain    modules coming and going
 *   [S] dbk.mutex            all control operations; the engine's control path; every provider's
 *                            lists
 *   [L] dbk.look_mutex       which rings there are, for those who only look; held for moments.
 *                            The list changes under [S] and [L]
 *   [E] events_lock          modules that wait (provider.c); a spinlock, nothing is taken under it
 *     the kernel's own, taken by what we call under [S]: cpu hotplug, module_mutex,
 *     tracepoints_mutex, ftrace_lock
 *   [H] dbk_host_cpus_lock() which CPUs are up; the engine's list of consumers and their regions
 *   [F] pid_mutex            hooks of provider pid, and files that come later; also taken by a process
 *                            that has mapped one, before it is back in user space, without [S]
 *   [B] the bank's mutex     its blocks (bank.c); nothing is taken under it
 *   [M] lock of maps/log.c   entries about mappings; a raw spinlock, no lock of the module is taken under it.  Its
 *                            hooks run under the kernel's own, mmap_lock among them; under [S]
 *                            mmap_lock is only tried for
 *
 * So: no user memory is touched under [S] or [L] (a fault takes mmap_lock), no file that a program names is
 * opened there (its server may never answer), no notifier is registered
 * or unregistered under [S], and no cpu hotplug callback of the module takes [S].
 *
 * Keys of fields:
 *   [S] dbk.mutex
 *   [L] changed under dbk.mutex and dbk.look_mutex, read under either
 *   [C] constant after init, or after create
 *   [P] this CPU, interrupts off
 *   [R] read by firing probes; changed by one store, freed after dbk_host_synchronize()
 */
#ifndef DBK_KMOD_STATE_H
#define DBK_KMOD_STATE_H

#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "engine/api/engine.h"
#include "formats/abi/ioctl.h"

struct file;

struct pid_probe;

/* Of one ring. */
struct dbk_places {
	struct pid_probe **probes; /* NULL: none */
	u32 count;
};

/* One enabling at work. */
struct dbk_ring {
	struct list_head link;	       /* [L] in dbk.rings, by id */
	struct dbk_consumer *consumer; /* [C] */
	struct file *owner;	       /* [L] who claimed or made it; NULL: no process yet */
	u32 holder_pid;		       /* [L] who that was; 0: embedded, and never claimed */
	char holder_comm[TASK_COMM_LEN]; /* [L] */
	bool ready;		       /* [L] it is enabled; before that no reader sees it */
	unsigned long clean_due;       /* [S] jiffies when its speculations are cleaned next */
	u64 memory_bytes;	       /* [C] segments, metadata, speculations at creation */
	u32 matched;		       /* [C] probes matched at creation */
	struct dbk_places places;      /* [S] probes in files that it brought along */
	bool anonymous;		       /* [C] came with the module */
	bool wants_maps;	       /* [C] it records addresses of processes */
	bool abort_said;	       /* [S] that the deadman ended it is in the kernel's log */
};

/* The module's own metadata blocks, ring_id 0. */
enum {
	DBK_BLOCK_HOST,
	DBK_BLOCK_LOG,
	DBK_BLOCK_CRASH,
	DBK_BLOCK_TRIGGERS, /* the engine's, which frees it */
	DBK_BLOCK_MAPS,	    /* the first of at most DBK_MAP_BLOCKS: maps/log.c */
	DBK_MAP_BLOCKS = 256,
	DBK_BLOCKS = DBK_BLOCK_MAPS + DBK_MAP_BLOCKS
};

/* The owner of a ring whose file was closed: to be destroyed. */
#define DBK_OWNER_GONE ((struct file *)-1l)

struct dbk_state {
	struct mutex mutex;	 /* [S] */
	struct mutex look_mutex; /* [L] */
	struct dbk_engine *engine; /* [C] */
	struct dbk_pages
		blocks[DBK_BLOCKS];	/* [C] the module's own, in the order they are listed */
	u32 block_count;		/* [L] of them there are: those of maps when a ring wants them */
	u8 boot_uuid[16];		/* [C] */
	u64 boot_id;			/* [C] its first 8 bytes */
	struct list_head rings;		/* [L] */
	u16 ring_id_last;		/* [S] */
	u32 probe_generation;		/* [S] counts removals of probes */
	char reason[DBK_REASON_BYTES];	/* [L] why a DOF that came with it was refused, or "" */
};

extern struct dbk_state dbk;

/** dbk_state_assert() - the caller holds [S] */
static inline void dbk_state_assert(void)
{
	lockdep_assert_held(&dbk.mutex);
}

/** dbk_look_assert() - the caller holds [S] or [L] */
static inline void dbk_look_assert(void)
{
	lockdep_assert(lockdep_is_held(&dbk.mutex) || lockdep_is_held(&dbk.look_mutex));
}

#endif /* DBK_KMOD_STATE_H */
