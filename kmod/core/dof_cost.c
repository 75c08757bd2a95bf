// SPDX-License-Identifier: GPL-2.0-only
/*
 * dof_cost.c - whether a program's actions are expensive
 *
 * With tens of thousands of functions being patched, every one of which already
 * fires, an action that walks the stack or reads user memory that is not there
 * stops the machine for minutes.  This looks for such actions in an image that
 * the engine has verified; its bounds are checked all the same.
 */
#include "formats/abi/dof.h"
#include "kmod/core/provider.h"

static const struct dof_section *section_at(const void *dof, size_t bytes, u32 index)
{
	const struct dof_header *header = dof;
	u64 at;

	if (bytes < sizeof(*header) || index >= header->section_count ||
	    header->section_bytes < sizeof(struct dof_section) || header->section_offset > bytes)
		return NULL;
	at = header->section_offset + (u64)index * header->section_bytes;
	if (at + sizeof(struct dof_section) > bytes)
		return NULL;
	return dof + at;
}

static bool action_is_expensive(u32 kind)
{
	switch (kind) {
	case DTRACEACT_STACK:
	case DTRACEACT_USTACK:
	case DTRACEACT_JSTACK:
		return true;
	default:
		return false;
	}
}

static bool instruction_is_expensive(u32 instruction)
{
	if (DIF_INSTR_OP(instruction) != DIF_OP_CALL)
		return false;
	switch (DIF_INSTR_SUBR(instruction)) {
	case DIF_SUBR_COPYIN:
	case DIF_SUBR_COPYINSTR:
	case DIF_SUBR_COPYINTO:
		return true;
	default:
		return false;
	}
}

static bool section_is_expensive(const struct dof_section *section, const void *data)
{
	u64 at;

	if (section->type == DOF_SECT_ACTDESC) {
		for (at = 0; at + sizeof(struct dof_actdesc) <= section->bytes;
		     at += sizeof(struct dof_actdesc))
			if (action_is_expensive(((const struct dof_actdesc *)(data + at))->kind))
				return true;
	} else if (section->type == DOF_SECT_DIF) {
		for (at = 0; at + sizeof(u32) <= section->bytes; at += sizeof(u32))
			if (instruction_is_expensive(*(const u32 *)(data + at)))
				return true;
	}
	return false;
}

bool dbk_program_is_expensive(const void *dof, size_t bytes)
{
	const struct dof_section *section;
	u32 index;

	for (index = 0; (section = section_at(dof, bytes, index)) != NULL; index++) {
		if (section->offset > bytes || section->bytes > bytes - section->offset)
			continue;
		if (section_is_expensive(section, dof + section->offset))
			return true;
	}
	return false;
}
