/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tend.h - what workers do for rings
 */
#ifndef DBK_KMOD_TEND_H
#define DBK_KMOD_TEND_H

#include "kmod/state.h"

/** dbk_tend_begin() - looks after rings from now on: stops those whose program called exit(), seals
 * segments */
void dbk_tend_begin(void);

/** dbk_tend_end() - no more, and no cleaning either; waits.  Context: not under [S]. */
void dbk_tend_end(void);

/** dbk_tend() - a ring that is new: its speculations are cleaned, and it grows, if its program says so.
 * Context: [S]. */
void dbk_tend(struct dbk_ring *ring);

/** dbk_rings_leave() - destroys the rings of a file that is closed, at once or soon, and what it @asked for.
 * Context: not [S]. */
void dbk_rings_leave(struct file *owner, bool asked);

#endif /* DBK_KMOD_TEND_H */
