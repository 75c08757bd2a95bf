/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * places.h - probes in programs' files that have most in common with another one (DOF)
 *
 * Of the functions of a file nothing is their own but name and offset: 32 bytes each instead of the 88 of a
 * dbk_dof_place (dof.h), so that the 100 000 of one program are less than an image may have.
 */
#ifndef DBK_ABI_PLACES_H
#define DBK_ABI_PLACES_H

#include "formats/abi/dof.h"

#define DBK_DOF_SECT_MORE_PLACES 0x44420008u /* Daybreak's own, not loadable, as those of dof.h */
#define DBK_MORE_PLACES_MAX	 131072u

/* As the place it is like, but for these; neither is a mark. */
struct dbk_dof_more_place {
	uint32_t like;	      /* index in PLACES */
	uint32_t function;    /* offset in STRINGS, as the name */
	uint32_t name;
	uint32_t kind;	      /* DBK_PLACE_, but not MARK */
	uint64_t offset;      /* in the file */
	uint64_t function_at; /* as of dbk_dof_place */
};

DBK_ABI_SIZE(struct dbk_dof_more_place, 32);
DBK_ABI_AT(struct dbk_dof_more_place, like, 0);
DBK_ABI_AT(struct dbk_dof_more_place, function, 4);
DBK_ABI_AT(struct dbk_dof_more_place, name, 8);
DBK_ABI_AT(struct dbk_dof_more_place, kind, 12);
DBK_ABI_AT(struct dbk_dof_more_place, offset, 16);
DBK_ABI_AT(struct dbk_dof_more_place, function_at, 24);

#endif /* DBK_ABI_PLACES_H */
