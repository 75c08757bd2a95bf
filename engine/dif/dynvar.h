/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dynvar.h - dynamic variables: self->x, x[...], self->x[...]
 *
 * All memory is there from the start: an array of equal chunks, linked into the
 * chains of a hash table, or into a free list of one CPU.
 *
 *   bucket: version | first ──► chunk: next | var, thread, hash | data ... | key ...
 *
 * A bucket's version is odd while a writer is inside; writers of one bucket
 * exclude each other by compare-and-swap on it.  No CPU waits for long: a writer
 * runs with interrupts off, is never interrupted by another firing on its CPU
 * (an NMI's is turned away, it is nested), and gives up after SPIN_MAX
 * tries with a DYNAMIC drop.  A reader that saw the version change looks again.
 *
 * A reader may follow a chunk that is being freed and used elsewhere: indices
 * always stay inside the array, the walk is bounded, and the version says
 * afterwards.  So nothing is ever freed late, and there is nothing to clean.
 *
 * What is handed out: a by-value variable's value; of a thread-local one by
 * reference, the address of its data (no other thread writes it); of a global array by
 * reference, a copy in scratch.
 */
#ifndef DBK_ENGINE_DYNVAR_H
#define DBK_ENGINE_DYNVAR_H

#include "engine/internal.h"

/** dbk_dynvars_init() - chunks for @program out of @bytes; nothing when it has no dynamic
 * variables. -ENOMEM, or -EINVAL when not even one chunk fits.  Control path */
int dbk_dynvars_init(struct dbk_dynvars *dynvars, const struct dbk_program *program, uint64_t bytes,
		     uint32_t cpu_count);

/** dbk_dynvars_deinit() - control path; all zeros is fine */
void dbk_dynvars_deinit(struct dbk_dynvars *dynvars);

#endif /* DBK_ENGINE_DYNVAR_H */
