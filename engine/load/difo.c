/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * difo.c - one DIF object, from DOF to memory: its sections, tables and type
 *
 * Control path.  What the tables hold is bounded here; what the instructions
 * do with it is verify.c's.
 */
#include "engine/load/verify.h"
#include "engine/lower/lower.h"

static int check_type(struct dbk_loader *loader, struct dbk_difo *difo)
{
	struct dif_type *type = &difo->type;

	if (type->kind != DIF_TYPE_CTF && type->kind != DIF_TYPE_STRING)
		return dbk_refuse(loader->reason, -EINVAL, "returns unknown kind %u",
				  (uint32_t)type->kind);
	if ((type->flags & ~DIF_TF_BYREF) != 0)
		return dbk_refuse(loader->reason, -EINVAL, "its return type has unknown flags 0x%x",
				  (uint64_t)type->flags);
	if (type->kind == DIF_TYPE_STRING) {
		if ((type->flags & DIF_TF_BYREF) == 0)
			return dbk_refuse(loader->reason, -EINVAL, "returns a string by value");
		type->size = loader->program->strsize;
	} else if ((type->flags & DIF_TF_BYREF) == 0 && type->size > 8) {
		return dbk_refuse(loader->reason, -EINVAL,
				  "returns %u bytes by value, at most 8 are", type->size);
	}
	return 0;
}

/* The sections that a DIFOHDR links to. */
enum { CODE, INTEGERS, STRINGS, VARS, SYMBOLS, LINKS };

struct links {
	struct dof_section code, integers, strings, vars, symbols;
	uint32_t integers_index; /* section, when has[INTEGERS] */
	bool has[LINKS];
};

static int load_link(struct dbk_loader *loader, uint32_t index, struct links *links)
{
	static const uint32_t types[] = {DOF_SECT_DIF, DOF_SECT_INTTAB, DOF_SECT_STRTAB,
					 DOF_SECT_VARTAB, DOF_SECT_KRELHDR};
	struct dof_section *to[LINKS];
	struct dof_section section;
	uint32_t i;

	to[0] = &links->code;
	to[1] = &links->integers;
	to[2] = &links->strings;
	to[3] = &links->vars;
	to[4] = &links->symbols;
	if (index >= loader->dof.section_count)
		return dbk_refuse(loader->reason, -EINVAL, "refers to section %u, there are %u",
				  index, loader->dof.section_count);
	section = dbk_dof_section(&loader->dof, index);
	for (i = 0; i < LINKS && types[i] != section.type; i++)
		;
	if (i == LINKS)
		return dbk_refuse(loader->reason, -EINVAL,
				  "needs section %u of type %u, which is not done here", index,
				  section.type);
	if (links->has[i])
		return dbk_refuse(loader->reason, -EINVAL, "has two sections of type %u",
				  section.type);
	if (i == INTEGERS)
		links->integers_index = index;
	*to[i] = section;
	links->has[i] = true;
	return 0;
}

static int load_links(struct dbk_loader *loader, const struct dof_section *header,
		      struct links *links)
{
	uint64_t at;
	uint32_t index;
	int error;

	if (header->bytes < sizeof(struct dof_difohdr) || header->bytes % 4 != 0 ||
	    header->bytes > sizeof(struct dof_difohdr) + 16 * 4)
		return dbk_refuse(loader->reason, -EINVAL, "its header has %U bytes",
				  header->bytes);
	for (at = sizeof(struct dof_difohdr); at < header->bytes; at += 4) {
		memcpy(&index, loader->dof.image + header->offset + at, 4);
		error = load_link(loader, index, links);
		if (error != 0)
			return error;
	}
	if (!links->has[0] || links->code.bytes == 0 || links->code.bytes % 4 != 0)
		return dbk_refuse(loader->reason, -EINVAL, "has no whole instructions");
	if (links->code.bytes / 4 > DBK_INSNS_MAX)
		return dbk_refuse(loader->reason, -E2BIG, "has %U instructions, at most %u run",
				  links->code.bytes / 4, DBK_INSNS_MAX);
	loader->insn_count += (uint32_t)(links->code.bytes / 4);
	if (loader->insn_count > DBK_PROGRAM_INSNS)
		return dbk_refuse(loader->reason, -E2BIG,
				  "more than %u instructions in one program", DBK_PROGRAM_INSNS);
	if (links->integers.bytes % 8 != 0 || links->integers.bytes / 8 > 0x10000)
		return dbk_refuse(loader->reason, -EINVAL, "its integer table has %U bytes",
				  links->integers.bytes);
	if (links->vars.bytes % sizeof(struct dif_var_entry) != 0 ||
	    links->vars.bytes / sizeof(struct dif_var_entry) > DBK_VARS_MAX)
		return dbk_refuse(loader->reason, -EINVAL, "its variable table has %U bytes",
				  links->vars.bytes);
	return 0;
}

static int load_tables(struct dbk_loader *loader, const struct links *links, struct dbk_difo *difo)
{
	const uint8_t *image = loader->dof.image;
	int error;

	difo->insn_count = (uint32_t)(links->code.bytes / 4);
	difo->integer_count = (uint32_t)(links->integers.bytes / 8);
	difo->strings = (const char *)image + links->strings.offset;
	difo->string_bytes = (uint32_t)links->strings.bytes;
	if (difo->string_bytes != 0 && difo->strings[difo->string_bytes - 1] != '\0')
		return dbk_refuse(loader->reason, -EINVAL,
				  "its string table does not end in a NUL");
	error = dbk_loader_alloc(loader, difo->insn_count * sizeof(*difo->insns),
				 (void **)&difo->insns);
	if (error == 0)
		error = dbk_loader_alloc(loader,
					 (difo->integer_count + 1) * sizeof(*difo->integers),
					 (void **)&difo->integers);
	if (error != 0)
		return error;
	memcpy(difo->integers, image + links->integers.offset, difo->integer_count * 8);
	return dbk_vars_load(loader, image + links->vars.offset,
			     (uint32_t)(links->vars.bytes / sizeof(struct dif_var_entry)));
}

/* The address of the kernel's symbol @name, asked for once in a program. */
static int find_symbol(struct dbk_loader *loader, const char *name, uint32_t bytes,
		       uint64_t *address_ret)
{
	struct dbk_symbol *symbol = loader->symbols, *end = symbol + loader->symbol_count;

	while (symbol < end && (symbol->bytes != bytes || memcmp(symbol->name, name, bytes) != 0))
		symbol++;
	if (symbol == end) {
		if (loader->symbol_count == DBK_PROGRAM_SYMBOLS)
			return dbk_refuse(loader->reason, -E2BIG,
					  "more than %u symbols of the kernel in one program",
					  DBK_PROGRAM_SYMBOLS);
		symbol->name = name;
		symbol->bytes = bytes;
		symbol->address = dbk_host_symbol(name);
		loader->symbol_count++;
	}
	*address_ret = symbol->address;
	return 0;
}

static int relocate(struct dbk_loader *loader, const struct dof_relohdr *header,
		    const struct dof_relodesc *entry, struct dbk_difo *difo)
{
	const char *name = dbk_dof_string(&loader->dof, header->strtab, entry->name);
	uint64_t address = 0;
	uint32_t bytes = 0;
	int error;

	if (entry->type != DOF_RELO_SETX || entry->offset % 8 != 0 ||
	    entry->offset / 8 >= difo->integer_count)
		return dbk_refuse(loader->reason, -EINVAL,
				  "its symbol table has an entry of type %u for byte %U of %u "
				  "integers",
				  entry->type, entry->offset, difo->integer_count);
	while (name != NULL && name[bytes] != '\0' && bytes <= DBK_SYMBOL_BYTES_MAX)
		bytes++;
	if (name == NULL || bytes == 0 || bytes > DBK_SYMBOL_BYTES_MAX)
		return dbk_refuse(loader->reason, -EINVAL,
				  "a symbol's name is not a string of 1 to %u bytes",
				  DBK_SYMBOL_BYTES_MAX);
	error = find_symbol(loader, name, bytes, &address);
	if (error != 0)
		return error;
	if (address == 0)
		return dbk_refuse(loader->reason, -ENOENT, "this kernel has no symbol %s", name);
	difo->integers[entry->offset / 8] = address + entry->data;
	difo->relocated = true;
	return 0;
}

/* Puts the addresses of the kernel's symbols into the integer table, before anybody reads it. */
static int load_symbols(struct dbk_loader *loader, const struct links *links, struct dbk_difo *difo)
{
	struct dof_relohdr header;
	struct dof_relodesc entry;
	struct dof_section table;
	uint64_t at;
	int error;

	if (!links->has[SYMBOLS])
		return 0;
	if (links->symbols.bytes < sizeof(header))
		return dbk_refuse(loader->reason, -EINVAL, "its symbol header has %U bytes",
				  links->symbols.bytes);
	memcpy(&header, loader->dof.image + links->symbols.offset, sizeof(header));
	if (!links->has[INTEGERS] || header.tgtsec != links->integers_index)
		return dbk_refuse(loader->reason, -EINVAL,
				  "its symbols are for section %u, not for its integers",
				  header.tgtsec);
	error = dbk_dof_find(&loader->dof, header.relsec, DOF_SECT_RELTAB, "a DIF object",
			     loader->reason, &table);
	if (error != 0)
		return error;
	if (table.entry_bytes != sizeof(entry) || table.bytes % sizeof(entry) != 0 ||
	    table.bytes / sizeof(entry) > difo->integer_count)
		return dbk_refuse(loader->reason, -EINVAL,
				  "its symbol table has %U bytes for %u integers", table.bytes,
				  difo->integer_count);
	loader->reloc_count += (uint32_t)(table.bytes / sizeof(entry));
	if (loader->reloc_count > DBK_PROGRAM_RELOCS)
		return dbk_refuse(loader->reason, -E2BIG,
				  "more than %u references to symbols in one program",
				  DBK_PROGRAM_RELOCS);
	for (at = 0; at < table.bytes && error == 0; at += sizeof(entry)) {
		memcpy(&entry, loader->dof.image + table.offset + at, sizeof(entry));
		error = relocate(loader, &header, &entry, difo);
	}
	return error;
}

int dbk_difo_load(struct dbk_loader *loader, uint32_t index, struct dbk_difo **difo_ret)
{
	struct dof_section header = dbk_dof_section(&loader->dof, index);
	struct dbk_difo *difo;
	struct links links;
	int error;

	memset(&links, 0, sizeof(links));
	error = load_links(loader, &header, &links);
	if (error != 0)
		return error;
	error = dbk_loader_alloc(loader, sizeof(*difo), (void **)&difo);
	if (error != 0)
		return error;
	difo->section = index;
	memcpy(&difo->type, loader->dof.image + header.offset, sizeof(difo->type));
	error = check_type(loader, difo);
	if (error == 0)
		error = load_tables(loader, &links, difo);
	if (error == 0)
		error = load_symbols(loader, &links, difo);
	if (error == 0)
		error = dbk_difo_verify(loader, difo, loader->dof.image + links.code.offset);
	if (error != 0) {
		dbk_difo_destroy(difo);
		return error;
	}
	dbk_difo_lower(loader->program, difo);
	*difo_ret = difo;
	return 0;
}

void dbk_difo_destroy(struct dbk_difo *difo)
{
	if (difo == NULL)
		return;
	dbk_host_free(difo->insns);
	dbk_host_free(difo->integers);
	dbk_host_free(difo);
}
