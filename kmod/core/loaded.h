/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * loaded.h - a program that has no ring yet
 */
#ifndef DBK_KMOD_LOADED_H
#define DBK_KMOD_LOADED_H

#include "kmod/providers/places.h"
#include "kmod/state.h"

/* A program before it has a ring. */
struct dbk_loaded {
	struct dbk_program *program;
	struct dbk_place_files files;
};

/**
 * dbk_loaded_create() - verifies a DOF image, and opens the files that it names
 * @untrusted_dof: @bytes of it
 * @reason:        filled whenever the call fails
 *
 * Context: Process; not [S]: opening may take for ever.
 * Return: 0 or a negative errno; then nothing of it is left.
 */
int dbk_loaded_create(const void *untrusted_dof, size_t bytes, struct dbk_reason *reason,
		      struct dbk_loaded *loaded_ret);

/** dbk_loaded_destroy() - what no ring took of it.  Context: may sleep. */
void dbk_loaded_destroy(struct dbk_loaded *loaded);

#endif /* DBK_KMOD_LOADED_H */
