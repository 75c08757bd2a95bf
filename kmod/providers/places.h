/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * places.h - the probes in files that a program brings along
 */
#ifndef DBK_KMOD_PLACES_H
#define DBK_KMOD_PLACES_H

#include "kmod/state.h"

struct dbk_requester;

/* The files of a program's places, in their order; of a path that waits, NULL where there is none. */
struct dbk_place_files {
	struct file **at; /* NULL: none */
	u32 count;
};

/**
 * dbk_place_files_open() - opens the files of a program's places, and reads what is wanted of them
 *
 * A file's server may never answer, and another process may hold a lease on it: only the caller waits then.
 * What is read once more later is in the page cache.
 *
 * Context: @requester's task; not [S].
 * Return: 0 or a negative errno, with a reason; then nothing is left.
 */
int dbk_place_files_open(const struct dbk_requester *requester, struct dbk_place_files *files_ret);

/** dbk_place_files_close() - Context: may sleep. */
void dbk_place_files_close(struct dbk_place_files *files);

/**
 * dbk_places_get() - publishes the probes of a program's places, which may be there already
 * @files: those of its program
 *
 * Context: @requester's task, [S].
 * Return: 0 or a negative errno, with a reason; then nothing is left.
 */
int dbk_places_get(const struct dbk_requester *requester, const struct dbk_place_files *files,
		   struct dbk_places *places_ret);

/** dbk_places_put() - those that no other program named are gone.  Context: [S]; no consumer of the
 * program is left. */
void dbk_places_put(struct dbk_places *places);

/** dbk_places_say() - appends to @remark where the kernel puts no probe.  Context: [S]. */
void dbk_places_say(const struct dbk_places *places, const char *name, struct dbk_reason *remark);

#endif /* DBK_KMOD_PLACES_H */
