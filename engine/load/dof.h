/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dof.h - sections of a DOF image, bounds-checked once
 *
 * Control path.  After dbk_dof_open() every section lies inside the image; what
 * a section contains is checked by its reader, through the functions here.
 * Fields are copied out: nothing in an image need be aligned.
 */
#ifndef DBK_ENGINE_DOF_H
#define DBK_ENGINE_DOF_H

#include "engine/types/internal.h"
#include "engine/types/reason.h"

struct dbk_dof {
	const uint8_t *image;
	uint32_t bytes;
	uint32_t section_count;
	uint32_t section_offset;
};

/** dbk_dof_open() - checks header and section table; -EINVAL or -E2BIG with a reason */
int dbk_dof_open(const uint8_t *image, size_t bytes, struct dbk_reason *reason,
		 struct dbk_dof *dof_ret);

/** dbk_dof_section() - header of section @index, which is below section_count */
struct dof_section dbk_dof_section(const struct dbk_dof *dof, uint32_t index);

/** dbk_dof_find() - the same for an untrusted @index that must have @type; @user names who refers
 * to it, for the reason */
int dbk_dof_find(const struct dbk_dof *dof, uint32_t index, uint32_t type, const char *user,
		 struct dbk_reason *reason, struct dof_section *section_ret);

/** dbk_dof_string() - string @offset of section @strtab, NUL-terminated inside it; NULL when there
 * is none */
const char *dbk_dof_string(const struct dbk_dof *dof, uint32_t strtab, uint64_t offset);

#endif /* DBK_ENGINE_DOF_H */
