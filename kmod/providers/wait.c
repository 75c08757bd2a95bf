// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait.c - since when a thread waits for a lock or a request
 */
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <trace/events/lock.h>

#include "engine/api/host.h"
#include "kmod/providers/wait.h"

/* 512: threads that wait at once, with a note each; one is in the NEAR notes after its hash or nowhere. */
#define NOTE_BITS 9
#define NEAR	  16

struct note {
	struct task_struct *thread; /* atomic: whose it is; NULL: free */
	const void *awaited;	    /* NULL until the rest is there */
	const struct dbk_probe *probe;
	u64 since_ns; /* 0: it is no longer of this probe's kind */
	struct dbk_wait what; /* without ns */
};

static struct note notes[1 << NOTE_BITS];

static __probe_ctx struct note *note_near(const struct dbk_probe *probe, const void *awaited,
					  u32 step)
{
	u64 key = (unsigned long)current ^ ((unsigned long)awaited << 7) ^ (unsigned long)probe;

	return &notes[(hash_64(key, NOTE_BITS) + step) % ARRAY_SIZE(notes)];
}

static __probe_ctx struct note *note_find(const struct dbk_probe *probe, const void *awaited)
{
	u32 i;

	for (i = 0; i < NEAR; i++) {
		struct note *note = note_near(probe, awaited, i);

		if (READ_ONCE(note->thread) == current && READ_ONCE(note->awaited) == awaited &&
		    note->probe == probe)
			return note;
	}
	return NULL;
}

static __probe_ctx void note_free(struct note *note)
{
	WRITE_ONCE(note->awaited, NULL);
	smp_store_release(&note->thread, NULL);
}

static __probe_ctx void note_make(struct dbk_probe *probe, const void *awaited, struct dbk_wait what)
{
	u32 i;

	for (i = 0; i < NEAR; i++) {
		struct note *note = note_near(probe, awaited, i);

		if (READ_ONCE(note->thread) || cmpxchg(&note->thread, NULL, current) != NULL)
			continue;
		note->probe = probe;
		note->since_ns = dbk_host_mono_ns();
		note->what = what;
		WRITE_ONCE(note->awaited, awaited);
		return;
	}
	dbk_probe_missed(probe, 1);
}

__probe_ctx bool dbk_wait_begins(struct dbk_probe *probe, const void *lock, unsigned int flags,
				 unsigned int kind)
{
	struct note *note;

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
	note_make(probe, lock, (struct dbk_wait){ .is_reader = flags & LCB_F_READ });
	return false;
}

__probe_ctx bool dbk_request_wait_begins(struct dbk_probe *probe, const void *request,
					 struct dbk_wait what)
{
	struct note *stale = note_find(probe, request);

	if (stale)
		note_free(stale);
	note_make(probe, request, what);
	return false;
}

__probe_ctx bool dbk_wait_ends(struct dbk_probe *probe, const void *awaited, struct dbk_wait *wait_ret)
{
	struct note *note = note_find(probe, awaited);
	u64 since_ns;

	if (!note)
		return false;
	since_ns = note->since_ns;
	*wait_ret = note->what;
	wait_ret->ns = dbk_host_mono_ns() - since_ns;
	note_free(note);
	return since_ns != 0;
}

void dbk_waits_forget(struct dbk_probe *probe)
{
	u32 i;

	dbk_state_assert();
	for (i = 0; i < ARRAY_SIZE(notes); i++)
		if (READ_ONCE(notes[i].awaited) && notes[i].probe == probe)
			note_free(&notes[i]);
}
