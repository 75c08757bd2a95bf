/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* places.c - where in files of programs a DOF image wants probes; see dof.h, struct dbk_dof_place */
#include "engine/load/program.h"
#include "formats/abi/places.h"

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
		{ &place->function, offsetof(struct dbk_dof_place, function), DBK_PROBE_NAME_BYTES_MAX },
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

/* What the host copies of a place: what many have in common only where it is another than before. */
static uint64_t text_bytes(const struct dbk_place *place, const struct dbk_place *before)
{
	const char *shared[] = { place->provider, place->module, place->path };
	const char *known[] = { before->provider, before->module, before->path };
	uint64_t bytes = strlen(place->function) + strlen(place->name);
	uint32_t i;

	for (i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (shared[i] != known[i])
			bytes += strlen(shared[i]);
	return bytes;
}

static int load_more_place(struct dbk_loader *loader, uint32_t strings, uint32_t place_count,
			   const uint8_t *bytes, struct dbk_place *place)
{
	struct dbk_dof_more_place entry;
	int error;

	memcpy(&entry, bytes, sizeof(entry));
	if (entry.like >= place_count || entry.kind == DBK_PLACE_MARK ||
	    loader->program->places[entry.like].kind == DBK_PLACE_MARK)
		return dbk_refuse(loader->reason, -EINVAL,
				  "a place of kind %u is like place %u of %u, or one of them is a mark",
				  entry.kind, entry.like, place_count);
	*place = loader->program->places[entry.like];
	place->kind = entry.kind;
	place->offset = entry.offset;
	place->function_at = entry.function_at;
	error = take_string(loader, strings, entry.function, DBK_PROBE_NAME_BYTES_MAX,
			    &place->function);
	if (error == 0)
		error = take_string(loader, strings, entry.name, DBK_PROBE_NAME_BYTES_MAX,
				    &place->name);
	return error != 0 ? error : check_place(loader, place);
}

/* A section of entries. */
struct table {
	const uint8_t *entries;
	uint64_t count;
};

static int find_table(struct dbk_loader *loader, uint32_t type, uint32_t entry_bytes,
		      uint32_t count_max, struct table *table_ret)
{
	struct dof_section section;
	uint32_t index;
	int error = find_one(loader, type, &index);

	*table_ret = (struct table){ 0 };
	if (error != 0 || index == DOF_SECIDX_NONE)
		return error;
	section = dbk_dof_section(&loader->dof, index);
	if (section.entry_bytes != entry_bytes || section.bytes % entry_bytes != 0)
		return dbk_refuse(loader->reason, -EINVAL, "section %u: places are not %u bytes each",
				  index, entry_bytes);
	table_ret->entries = loader->dof.image + section.offset;
	table_ret->count = section.bytes / entry_bytes;
	if (table_ret->count > count_max)
		return dbk_refuse(loader->reason, -E2BIG, "%U places in one program, at most %u",
				  table_ret->count, count_max);
	return 0;
}

static int check_texts(struct dbk_loader *loader)
{
	const struct dbk_program *program = loader->program;
	const struct dbk_place none = { 0 }, *before = &none;
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < program->place_count && bytes <= DBK_PLACES_TEXT_BYTES_MAX; i++) {
		bytes += text_bytes(&program->places[i], before);
		before = &program->places[i];
	}
	if (bytes <= DBK_PLACES_TEXT_BYTES_MAX)
		return 0;
	return dbk_refuse(loader->reason, -E2BIG, "names and paths of places have more than %u bytes",
			  DBK_PLACES_TEXT_BYTES_MAX);
}

int dbk_places_load(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	struct table whole, more;
	uint32_t strings, i;
	int error = find_table(loader, DBK_DOF_SECT_PLACES, sizeof(struct dbk_dof_place),
			       DBK_PLACES_MAX, &whole);

	if (error == 0)
		error = find_table(loader, DBK_DOF_SECT_MORE_PLACES,
				   sizeof(struct dbk_dof_more_place), DBK_MORE_PLACES_MAX, &more);
	if (error != 0 || whole.count + more.count == 0)
		return error;
	error = find_one(loader, DBK_DOF_SECT_STRINGS, &strings);
	if (error == 0)
		error = dbk_loader_alloc(loader,
					 (whole.count + more.count) * sizeof(*program->places),
					 (void **)&program->places);
	for (i = 0; i < whole.count && error == 0; i++)
		error = load_place(loader, strings, whole.entries + i * sizeof(struct dbk_dof_place),
				   &program->places[i]);
	for (i = 0; i < more.count && error == 0; i++)
		error = load_more_place(loader, strings, (uint32_t)whole.count,
					more.entries + i * sizeof(struct dbk_dof_more_place),
					&program->places[whole.count + i]);
	if (error != 0)
		return error;
	program->place_count = (uint32_t)(whole.count + more.count);
	return check_texts(loader);
}

uint32_t dbk_program_place_count(const struct dbk_program *program)
{
	return program->place_count;
}

const struct dbk_place *dbk_program_place(const struct dbk_program *program, uint32_t index)
{
	return index < program->place_count ? &program->places[index] : NULL;
}
