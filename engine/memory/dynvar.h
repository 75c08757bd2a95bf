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
 *
 * Thread-local scalars, self->x, have no key but the thread, and are not in the table:
 * thread.h.  They take a chunk each all the same.
 */
#ifndef DBK_ENGINE_DYNVAR_H
#define DBK_ENGINE_DYNVAR_H

#include "engine/types/internal.h"

/* Which variable, or element. */
struct dbk_dynvar_key {
	uint32_t var; /* index in the program's variables */
	uint32_t hash;
	uint64_t thread;
	uint32_t bytes;
	const uint8_t *data;
};

/** dbk_dynvar_key() - of a variable whose tuple is the first @bytes of cpu->key, a multiple of 8;
 * 0: it has none.  @thread: the current one's.  Probe context */
void dbk_dynvar_key(const struct dbk_cpu *cpu, uint32_t var, bool thread, uint32_t bytes,
		    struct dbk_dynvar_key *key_ret);

/** dbk_bucket_load() - the value, or where its data is: in @copy, if that is not NULL, which has
 * room for it.  0 when there is none, or after a DYNAMIC drop.  Probe context */
uint64_t dbk_bucket_load(struct dbk_cpu *cpu, const struct dbk_dynvar_key *key, void *copy);

/** dbk_bucket_store() - stores @value; by reference, what lies at that address, which is ours; 0
 * frees. false: a DYNAMIC drop.  *change_ret: how many more variables are in the table now,
 * untouched when as many.  Probe context */
bool dbk_bucket_store(struct dbk_cpu *cpu, const struct dbk_dynvar_key *key, uint64_t value,
		      int32_t *change_ret);

/** dbk_dynvar_put() - @value into the chunk; by reference, what lies at that address, which is ours.
 * Probe context */
void dbk_dynvar_put(struct dbk_dynvar *c, const struct dbk_var *var, uint64_t value);

/** dbk_dynvars_init() - chunks for the consumer's program out of @bytes; nothing when it has no
 * dynamic variables. -ENOMEM.  Control path */
int dbk_dynvars_init(struct dbk_consumer *consumer, uint64_t bytes);

/** dbk_dynvars_deinit() - control path; all zeros is fine */
void dbk_dynvars_deinit(struct dbk_dynvars *dynvars);

#endif /* DBK_ENGINE_DYNVAR_H */
