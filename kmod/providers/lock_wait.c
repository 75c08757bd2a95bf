// SPDX-License-Identifier: GPL-2.0-only
/*
 * lock_wait.c - since when a thread waits for a lock
 */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <trace/events/lock.h>

#include "engine/api/host.h"
#include "kmod/providers/lock_wait.h"

/* 512: threads that wait at once, with a note each; one is in the NEAR notes after its hash or nowhere. */
#define NOTE_BITS 9
#define NEAR	  16

struct note {
	struct task_struct *thread; /* atomic: whose it is; NULL: free */
	const void *lock;	    /* NULL until the rest is there */
	const struct dbk_probe *probe;
	u64 since_ns; /* 0: it is no longer of this probe's kind */
	bool is_reader;
};

static struct note notes[1 << NOTE_BITS];

static __probe_ctx struct note *note_near(const struct dbk_probe *probe, const void *lock, u32 step)
{
	u64 key = (unsigned long)current ^ ((unsigned long)lock << 7) ^ (unsigned long)probe;

	return &notes[(hash_64(key, NOTE_BITS) + step) % ARRAY_SIZE(notes)];
}

static __probe_ctx struct note *note_find(const struct dbk_probe *probe, const void *lock)
{
	u32 i;

	for (i = 0; i < NEAR; i++) {
		struct note *note = note_near(probe, lock, i);

		if (READ_ONCE(note->thread) == current && READ_ONCE(note->lock) == lock &&
		    note->probe == probe)
			return note;
	}
	return NULL;
}

static __probe_ctx void note_free(struct note *note)
{
	WRITE_ONCE(note->lock, NULL);
	smp_store_release(&note->thread, NULL);
}

__probe_ctx bool dbk_wait_begins(struct dbk_probe *probe, const void *lock, unsigned int flags,
				 unsigned int kind)
{
	struct note *note;
	u32 i;

	if (flags != kind) {
		note = kind == (LCB_F_MUTEX | LCB_F_SPIN) && flags == LCB_F_MUTEX ?
			       note_find(probe, lock) : NULL;
		if (note)
			note->since_ns = 0;
		return false;
	}
	note = note_find(probe, lock);
	if (note) {
		/* Only a mutex's wait begins several times; of another one the end was not seen. */
		if (!(kind & LCB_F_MUTEX))
			note->since_ns = dbk_host_mono_ns();
		return false;
	}
	for (i = 0; i < NEAR; i++) {
		note = note_near(probe, lock, i);
		if (READ_ONCE(note->thread) || cmpxchg(&note->thread, NULL, current) != NULL)
			continue;
		note->probe = probe;
		note->since_ns = dbk_host_mono_ns();
		note->is_reader = flags & LCB_F_READ;
		WRITE_ONCE(note->lock, lock);
		return false;
	}
	dbk_probe_missed(probe, 1);
	return false;
}

__probe_ctx bool dbk_wait_ends(struct dbk_probe *probe, const void *lock, struct dbk_wait *wait_ret)
{
	struct note *note = note_find(probe, lock);
	u64 since_ns;

	if (!note)
		return false;
	since_ns = note->since_ns;
	*wait_ret = (struct dbk_wait){ .ns = dbk_host_mono_ns() - since_ns, .is_reader = note->is_reader };
	note_free(note);
	return since_ns != 0;
}

void dbk_waits_forget(struct dbk_probe *probe)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(notes); i++)
		if (READ_ONCE(notes[i].lock) && notes[i].probe == probe)
			note_free(&notes[i]);
}
