/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait.h - since when a thread waits for a lock, for each probe of provider lockstat that is asked for waits; and for which
 * request, for io:::wait-done
 *
 * A wait is found by its thread, its lock or request, and the probe.  What interrupts a thread waits for other locks than it does, so
 * nothing but the thread's own CPU looks at a note.  A wait may begin several times: a mutex is spun for, slept for, and spun
 * for again.
 */
#ifndef DBK_KMOD_WAIT_H
#define DBK_KMOD_WAIT_H

#include "kmod/providers/stable.h"

struct dbk_wait {
	u64 ns;
	bool is_reader;
	u32 bytes; /* of a request */
	u64 sector;
};

/**
 * dbk_wait_begins() - the thread begins to wait for @lock as @flags (LCB_F_*) say
 * @kind: notes it when they are these; of a mutex that is slept for forgets that it was spun for
 *
 * Without room for a note it is a MISSED drop.
 * Context: Probe context.  Return: false.
 */
bool dbk_wait_begins(struct dbk_probe *probe, const void *lock, unsigned int flags, unsigned int kind);

/** dbk_request_wait_begins() - the same for a bio or a buffer, of @what all but ns */
bool dbk_request_wait_begins(struct dbk_probe *probe, const void *request, struct dbk_wait what);

/** dbk_wait_ends() - the wait is over.  Context: Probe context.  Return: whether it was noted */
bool dbk_wait_ends(struct dbk_probe *probe, const void *awaited, struct dbk_wait *wait_ret);

/** dbk_waits_forget() - notes of @probe that were made when it was enabled before.  Context: [S]. */
void dbk_waits_forget(struct dbk_probe *probe);

#endif /* DBK_KMOD_WAIT_H */
