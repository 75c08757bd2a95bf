/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* dof.c - header and section table of an untrusted DOF image; see dof.h */
#include "engine/load/dof.h"

static int check_ident(const struct dof_header *header, struct dbk_reason *reason)
{
	const uint8_t *ident = header->ident;
	uint32_t i;

	if (memcmp(ident, DOF_MAGIC_BYTES, 4) != 0)
		return dbk_refuse(reason, -EINVAL,
				  "no DOF: the first four bytes are not 7f 44 4f 46");
	if (ident[DOF_ID_MODEL] != DOF_MODEL_LP64)
		return dbk_refuse(reason, -EINVAL, "DOF data model %u is not LP64 (2)",
				  (uint32_t)ident[DOF_ID_MODEL]);
	if (ident[DOF_ID_ENCODING] != DOF_ENCODE_LSB)
		return dbk_refuse(reason, -EINVAL, "DOF encoding %u is not little-endian (1)",
				  (uint32_t)ident[DOF_ID_ENCODING]);
	if (ident[DOF_ID_VERSION] != DOF_VERSION_1 && ident[DOF_ID_VERSION] != DOF_VERSION_2)
		return dbk_refuse(reason, -EINVAL, "DOF version %u is neither 1 nor 2",
				  (uint32_t)ident[DOF_ID_VERSION]);
	if (ident[DOF_ID_DIFVERS] < 1 || ident[DOF_ID_DIFVERS] > DIF_VERSION)
		return dbk_refuse(reason, -EINVAL, "DIF version %u is neither 1 nor 2",
				  (uint32_t)ident[DOF_ID_DIFVERS]);
	if (ident[DOF_ID_DIFIREG] > DIF_DIR_NREGS)
		return dbk_refuse(reason, -EINVAL,
				  "DOF asks for %u integer registers, there are %u",
				  (uint32_t)ident[DOF_ID_DIFIREG], (uint32_t)DIF_DIR_NREGS);
	if (ident[DOF_ID_DIFTREG] > DIF_DTR_NREGS)
		return dbk_refuse(reason, -EINVAL, "DOF asks for %u tuple registers, there are %u",
				  (uint32_t)ident[DOF_ID_DIFTREG], (uint32_t)DIF_DTR_NREGS);
	for (i = DOF_ID_DIFTREG + 1; i < DOF_ID_SIZE; i++)
		if (ident[i] != 0)
			return dbk_refuse(reason, -EINVAL, "DOF ident byte %u is not 0", i);
	return 0;
}

static int check_header(const struct dof_header *header, size_t bytes, struct dbk_reason *reason)
{
	if (header->flags != 0)
		return dbk_refuse(reason, -EINVAL, "DOF has flags 0x%x, none are known",
				  (uint64_t)header->flags);
	if (header->header_bytes != sizeof(*header) ||
	    header->section_bytes != sizeof(struct dof_section))
		return dbk_refuse(
			reason, -EINVAL,
			"DOF says its header is %u and a section header %u bytes, not 64 and 32",
			header->header_bytes, header->section_bytes);
	if (header->file_bytes > bytes)
		return dbk_refuse(reason, -EINVAL, "DOF is cut: it says %U bytes, there are %U",
				  header->file_bytes, (uint64_t)bytes);
	if (header->load_bytes > header->file_bytes || header->file_bytes < sizeof(*header))
		return dbk_refuse(reason, -EINVAL,
				  "DOF sizes contradict each other: %U to load of %U",
				  header->load_bytes, header->file_bytes);
	if (header->section_count > DBK_SECTIONS_MAX)
		return dbk_refuse(reason, -E2BIG, "DOF has %u sections, at most %u are loaded",
				  header->section_count, DBK_SECTIONS_MAX);
	if (header->section_offset > header->file_bytes ||
	    (header->file_bytes - header->section_offset) / sizeof(struct dof_section) <
		    header->section_count)
		return dbk_refuse(
			reason, -EINVAL,
			"DOF section table (%u entries at offset %U) ends past the end of the image",
			header->section_count, header->section_offset);
	return 0;
}

struct dof_section dbk_dof_section(const struct dbk_dof *dof, uint32_t index)
{
	struct dof_section section;

	memcpy(&section, dof->image + dof->section_offset + (size_t)index * sizeof(section),
	       sizeof(section));
	return section;
}

static int check_sections(const struct dbk_dof *dof, struct dbk_reason *reason)
{
	uint32_t i;

	for (i = 0; i < dof->section_count; i++) {
		struct dof_section section = dbk_dof_section(dof, i);

		if (section.offset > dof->bytes || section.bytes > dof->bytes - section.offset)
			return dbk_refuse(reason, -EINVAL,
					  "section %u (offset %U, %U bytes) ends past the end of the image",
					  i, section.offset, section.bytes);
		if (section.align != 0 && !DBK_IS_POWER_OF_TWO(section.align))
			return dbk_refuse(reason, -EINVAL,
					  "section %u: alignment %u is not a power of two", i,
					  section.align);
		if ((section.flags & DOF_SECF_LOAD) != 0 && section.align > 1 &&
		    (section.offset & (section.align - 1)) != 0)
			return dbk_refuse(reason, -EINVAL,
					  "section %u: offset %U is not aligned to %u", i,
					  section.offset, section.align);
	}
	return 0;
}

int dbk_dof_open(const uint8_t *image, size_t bytes, struct dbk_reason *reason,
		 struct dbk_dof *dof_ret)
{
	struct dof_header header;
	int error;

	if (bytes < sizeof(header))
		return dbk_refuse(reason, -EINVAL,
				  "DOF is cut: %U bytes are less than its header's 64",
				  (uint64_t)bytes);
	memcpy(&header, image, sizeof(header));
	error = check_ident(&header, reason);
	if (error == 0)
		error = check_header(&header, bytes, reason);
	if (error != 0)
		return error;
	dof_ret->image = image;
	dof_ret->bytes = (uint32_t)header.file_bytes;
	dof_ret->section_count = header.section_count;
	dof_ret->section_offset = (uint32_t)header.section_offset;
	return check_sections(dof_ret, reason);
}

int dbk_dof_find(const struct dbk_dof *dof, uint32_t index, uint32_t type, const char *user,
		 struct dbk_reason *reason, struct dof_section *section_ret)
{
	if (index >= dof->section_count)
		return dbk_refuse(reason, -EINVAL, "%s refers to section %u, there are %u", user,
				  index, dof->section_count);
	*section_ret = dbk_dof_section(dof, index);
	if (section_ret->type != type)
		return dbk_refuse(reason, -EINVAL, "%s refers to section %u of type %u, not %u",
				  user, index, section_ret->type, type);
	return 0;
}

const char *dbk_dof_string(const struct dbk_dof *dof, uint32_t strtab, uint64_t offset)
{
	struct dof_section section;
	const uint8_t *table;

	if (strtab >= dof->section_count)
		return NULL;
	section = dbk_dof_section(dof, strtab);
	if ((section.type != DOF_SECT_STRTAB && section.type != DBK_DOF_SECT_STRINGS) ||
	    section.bytes == 0 || offset >= section.bytes)
		return NULL;
	table = dof->image + section.offset;
	if (table[section.bytes - 1] != '\0')
		return NULL;
	return (const char *)table + offset;
}
