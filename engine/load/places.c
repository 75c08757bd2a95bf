/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* places.c - where in files of programs a DOF image wants probes; see dof.h, struct dbk_dof_place */
#include "engine/load/program.h"

/* 2^62: offsets are signed in the kernel, and sums of two stay so. */
#define DBK_FILE_OFFSET_MAX (1ull << 62)

/* The section of @type, or a refusal when there are two: which is meant cannot be known. */
static int find_one(struct dbk_loader *loader, uint32_t type, uint32_t *index_ret)
{
	uint32_t i;

	*index_ret = DOF_SECIDX_NONE;
	for (i = 0; i < loader->dof.section_count; i++) {
		if (dbk_dof_section(&loader->dof, i).type != type)
			continue;
		if (*index_ret != DOF_SECIDX_NONE)
			return dbk_refuse(loader->reason, -EINVAL,
					  "sections %u and %u are both of type 0x%x", *index_ret, i,
					  (uint64_t)type);
		*index_ret = i;
	}
	return 0;
}

static int take_string(struct dbk_loader *loader, uint32_t strings, uint32_t offset,
		       uint32_t bytes_max, const char **text_ret)
{
	const char *text = dbk_dof_string(&loader->dof, strings, offset);
	uint32_t bytes = 0;

	if (text == NULL)
		return dbk_refuse(loader->reason, -EINVAL, "a place's text is not a string");
	while (text[bytes] != '\0')
		if (++bytes > bytes_max)
			return dbk_refuse(loader->reason, -EINVAL,
					  "a place's text has more than %u bytes", bytes_max);
	*text_ret = text;
	return 0;
}

static int check_place(struct dbk_loader *loader, const struct dbk_place *place)
{
	bool is_offset = place->kind == DBK_PLACE_INSTRUCTION;

	if (place->kind >= DBK_PLACE_KINDS)
		return dbk_refuse(loader->reason, -EINVAL, "a place is of kind %u, there are %u",
				  place->kind, DBK_PLACE_KINDS);
	if (place->path[0] != '/')
		return dbk_refuse(loader->reason, -EINVAL, "a place's path does not begin with /");
	if (place->offset > DBK_FILE_OFFSET_MAX || place->semaphore > DBK_FILE_OFFSET_MAX ||
	    place->build_id_at > DBK_FILE_OFFSET_MAX)
		return dbk_refuse(loader->reason, -EINVAL, "a place is at offset 0x%x of its file",
				  place->offset);
	if (is_offset && (place->function_at > place->offset ||
			  place->offset - place->function_at > DBK_PLACE_FUNCTION_BYTES_MAX))
		return dbk_refuse(loader->reason, -EINVAL,
				  "a place is not within 1 MiB of its function's beginning");
	if (place->build_id_bytes > DBK_PLACE_BUILD_ID_MAX)
		return dbk_refuse(loader->reason, -EINVAL, "a build id of %u bytes, at most %u",
				  place->build_id_bytes, DBK_PLACE_BUILD_ID_MAX);
	return 0;
}

static int load_place(struct dbk_loader *loader, uint32_t strings, const uint8_t *bytes,
		      struct dbk_place *place)
{
	struct dbk_dof_place entry;
	const char *operands = "";
	const struct {
		const char **text;
		uint32_t offset, bytes_max;
	} texts[] = {
		{ &place->provider, offsetof(struct dbk_dof_place, provider), DBK_PROBE_NAME_BYTES_MAX },
		{ &place->module, offsetof(struct dbk_dof_place, module), DBK_PROBE_NAME_BYTES_MAX },
		{ &place->function, offsetof(struct dbk_dof_place, function), DBK_PROBE_FUNCTION_BYTES_MAX },
		{ &place->name, offsetof(struct dbk_dof_place, name), DBK_PROBE_NAME_BYTES_MAX },
		{ &place->path, offsetof(struct dbk_dof_place, path), DBK_PLACE_PATH_BYTES_MAX },
		{ &operands, offsetof(struct dbk_dof_place, operands), DBK_PLACE_PATH_BYTES_MAX },
	};
	uint32_t i, offset;
	int error = 0;

	memcpy(&entry, bytes, sizeof(entry));
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]) && error == 0; i++) {
		memcpy(&offset, bytes + texts[i].offset, sizeof(offset));
		error = take_string(loader, strings, offset, texts[i].bytes_max, texts[i].text);
	}
	if (error != 0)
		return error;
	place->operand_count = dbk_operands_read(operands, place->operands);
	place->kind = entry.kind;
	place->pid = entry.pid;
	place->offset = entry.offset;
	place->function_at = entry.function_at;
	place->semaphore = entry.semaphore;
	place->build_id_at = entry.build_id_at;
	place->build_id_bytes = entry.build_id_bytes;
	memcpy(place->build_id, entry.build_id, sizeof(place->build_id));
	return check_place(loader, place);
}

int dbk_places_load(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	struct dof_section section;
	uint32_t index, strings;
	uint64_t i, count, bytes = 0;
	int error = find_one(loader, DBK_DOF_SECT_PLACES, &index);

	if (error != 0 || index == DOF_SECIDX_NONE)
		return error;
	error = find_one(loader, DBK_DOF_SECT_STRINGS, &strings);
	if (error != 0)
		return error;
	section = dbk_dof_section(&loader->dof, index);
	if (section.entry_bytes != sizeof(struct dbk_dof_place) ||
	    section.bytes % sizeof(struct dbk_dof_place) != 0)
		return dbk_refuse(loader->reason, -EINVAL, "section %u: places are not %u bytes each",
				  index, (uint32_t)sizeof(struct dbk_dof_place));
	count = section.bytes / sizeof(struct dbk_dof_place);
	if (count > DBK_PLACES_MAX)
		return dbk_refuse(loader->reason, -E2BIG, "%U places in one program, at most %u",
				  count, DBK_PLACES_MAX);
	error = dbk_loader_alloc(loader, (count + 1) * sizeof(*program->places),
				 (void **)&program->places);
	for (i = 0; i < count && error == 0; i++) {
		error = load_place(loader, strings,
				   loader->dof.image + section.offset +
					   i * sizeof(struct dbk_dof_place),
				   &program->places[i]);
		if (error == 0)
			bytes += strlen(program->places[i].function);
		if (bytes > DBK_PLACES_FUNCTION_BYTES_MAX)
			error = dbk_refuse(loader->reason, -E2BIG,
					   "functions' names of places have more than %u bytes",
					   DBK_PLACES_FUNCTION_BYTES_MAX);
	}
	program->place_count = (uint32_t)count;
	return error;
}

uint32_t dbk_program_place_count(const struct dbk_program *program)
{
	return program->place_count;
}

const struct dbk_place *dbk_program_place(const struct dbk_program *program, uint32_t index)
{
	return index < program->place_count ? &program->places[index] : NULL;
}
