/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * anonymous.h - enablings that begin with the module and have no owner
 *
 * They come inside the module (embed.h) or lie in a folder beside it (beside.h).
 */
#ifndef DBK_KMOD_ANONYMOUS_H
#define DBK_KMOD_ANONYMOUS_H

#include "kmod/state.h"

/**
 * dbk_anonymous_refuse() - says in the log and in dbk.reason why a program is not enabled
 * @place: where it comes from, as the log's line begins
 * @file:  its name there
 *
 * Context: may sleep.
 */
void dbk_anonymous_refuse(const char *place, const char *file, const char *reason);

/**
 * dbk_anonymous_enable() - makes a ring without an owner, or says why not
 * @untrusted_dof: @bytes of it
 * @place, @file:  as of dbk_anonymous_refuse()
 * @name:          of the ring
 *
 * Context: Process, not [S].
 */
void dbk_anonymous_enable(const void *untrusted_dof, size_t bytes, const char *place,
			  const char *file, const char *name);

/** dbk_anonymous_say() - how many there are, in the log, when there is one.  Context: [S]. */
void dbk_anonymous_say(void);

#endif /* DBK_KMOD_ANONYMOUS_H */
