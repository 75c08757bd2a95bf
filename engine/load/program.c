/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* program.c - loads and verifies an untrusted DOF image; see program.h */
#include "engine/load/program.h"

int dbk_loader_alloc(struct dbk_loader *loader, uint64_t bytes, void **memory_ret)
{
	struct dbk_program *program = loader->program;

	if (bytes > DBK_PROGRAM_BYTES - program->memory_bytes)
		return dbk_refuse(loader->reason, -E2BIG,
				  "the program needs more than %u bytes of memory",
				  DBK_PROGRAM_BYTES);
	*memory_ret = dbk_host_alloc(bytes);
	if (*memory_ret == NULL)
		return dbk_refuse(loader->reason, -ENOMEM, "no memory for the program");
	program->memory_bytes += (uint32_t)bytes;
	return 0;
}

static int load_options(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	uint32_t i, at;

	for (i = 0; i < loader->dof.section_count; i++) {
		struct dof_section section = dbk_dof_section(&loader->dof, i);

		if (section.type != DOF_SECT_OPTDESC && section.type != DBK_DOF_SECT_OPTIONS)
			continue;
		if (section.entry_bytes != sizeof(struct dof_optdesc) ||
		    section.bytes % sizeof(struct dof_optdesc) != 0)
			return dbk_refuse(loader->reason, -EINVAL,
					  "section %u: options are not 16 bytes each", i);
		for (at = 0; at < section.bytes; at += sizeof(struct dof_optdesc)) {
			struct dof_optdesc option;

			memcpy(&option, loader->dof.image + section.offset + at, sizeof(option));
			if (program->option_count == DBK_OPTIONS_MAX)
				return dbk_refuse(loader->reason, -E2BIG,
						  "DOF sets more than %u options", DBK_OPTIONS_MAX);
			/* A value that is text is for the printer, not for the engine. */
			if (option.strtab != DOF_SECIDX_NONE)
				continue;
			program->options[program->option_count].id = option.option;
			program->options[program->option_count++].value = option.value;
		}
	}
	return 0;
}

static int load_strsize(struct dbk_loader *loader)
{
	uint64_t strsize = DBK_STRSIZE_DEFAULT;

	dbk_program_option(loader->program, DTRACEOPT_STRSIZE, &strsize);
	if (strsize < DBK_STRSIZE_MIN || strsize > DBK_STRSIZE_MAX)
		return dbk_refuse(loader->reason, -EINVAL,
				  "option strsize is %U, it must be %u to %u", strsize,
				  DBK_STRSIZE_MIN, DBK_STRSIZE_MAX);
	loader->program->strsize = (uint32_t)strsize;
	return 0;
}

static int load_target(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	uint32_t i, strings = DOF_SECIDX_NONE;
	struct dbk_dof_target target;

	for (i = 0; i < loader->dof.section_count; i++)
		if (dbk_dof_section(&loader->dof, i).type == DBK_DOF_SECT_STRINGS)
			strings = i;
	for (i = 0; i < loader->dof.section_count; i++) {
		struct dof_section section = dbk_dof_section(&loader->dof, i);

		if (section.type != DBK_DOF_SECT_TARGET)
			continue;
		if (section.bytes < sizeof(target))
			return dbk_refuse(loader->reason, -EINVAL,
					  "section %u: a target needs 48 bytes", i);
		memcpy(&target, loader->dof.image + section.offset, sizeof(target));
		if (target.dialect != DBK_DOF_DIALECT_ORACLE)
			return dbk_refuse(loader->reason, -EINVAL,
					  "DOF is of dialect %u, this engine knows 1",
					  target.dialect);
		program->target_release = dbk_dof_string(&loader->dof, strings, target.release);
		if (program->target_release == NULL)
			return dbk_refuse(loader->reason, -EINVAL,
					  "section %u: the target's kernel release is not a string",
					  i);
		memcpy(program->target_btf_id, target.btf_id, sizeof(target.btf_id));
		program->target_typed = target.typed != 0;
		program->has_target = true;
	}
	return 0;
}

static int load_difos(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	uint32_t i;
	int error;

	error = dbk_loader_alloc(loader, (loader->dof.section_count + 1) * sizeof(*program->difos),
				 (void **)&program->difos);
	if (error != 0)
		return error;
	program->section_count = loader->dof.section_count;
	for (i = 0; i < program->section_count; i++) {
		if (dbk_dof_section(&loader->dof, i).type != DOF_SECT_DIFOHDR)
			continue;
		error = dbk_difo_load(loader, i, &program->difos[i]);
		if (error != 0) {
			dbk_reason_prefix(loader->reason, "DIF object in section", i);
			return error;
		}
	}
	return dbk_vars_layout(loader);
}

static int find_difo(struct dbk_loader *loader, uint32_t index, const char *user,
		     const struct dbk_difo **difo_ret)
{
	*difo_ret = NULL;
	if (index == DOF_SECIDX_NONE)
		return 0;
	if (index >= loader->program->section_count || loader->program->difos[index] == NULL)
		return dbk_refuse(loader->reason, -EINVAL,
				  "%s refers to section %u, which is not a DIF object", user, index);
	*difo_ret = loader->program->difos[index];
	return 0;
}

static int load_name(struct dbk_loader *loader, const struct dof_probedesc *desc, uint32_t offset,
		     const char **name_ret)
{
	const char *name = dbk_dof_string(&loader->dof, desc->strtab, offset);
	uint32_t bytes = 0;

	if (name == NULL)
		return dbk_refuse(loader->reason, -EINVAL,
				  "a probe description's name is not a string of its table");
	while (name[bytes] != '\0')
		if (++bytes > DBK_PROBE_NAME_BYTES_MAX)
			return dbk_refuse(loader->reason, -EINVAL,
					  "a probe description's part has more than %u bytes",
					  DBK_PROBE_NAME_BYTES_MAX);
	*name_ret = name;
	return 0;
}

static int load_probedesc(struct dbk_loader *loader, uint32_t index, uint32_t *index_ret)
{
	struct dbk_program *program = loader->program;
	struct dbk_probedesc *to = &program->probedescs[program->probedesc_count];
	struct dof_section section;
	struct dof_probedesc desc;
	int error;

	error = dbk_dof_find(&loader->dof, index, DOF_SECT_PROBEDESC, "an enabling", loader->reason,
			     &section);
	if (error != 0)
		return error;
	if (section.bytes < sizeof(desc))
		return dbk_refuse(loader->reason, -EINVAL,
				  "section %u: a probe description needs 24 bytes", index);
	memcpy(&desc, loader->dof.image + section.offset, sizeof(desc));
	error = load_name(loader, &desc, desc.provider, &to->provider);
	if (error == 0)
		error = load_name(loader, &desc, desc.module, &to->module);
	if (error == 0)
		error = load_name(loader, &desc, desc.function, &to->function);
	if (error == 0)
		error = load_name(loader, &desc, desc.name, &to->name);
	if (error != 0)
		return error;
	to->id = desc.id;
	if (dbk_glob_match(to->provider, "dtrace") && dbk_glob_match(to->name, "END"))
		program->has_end = true;
	*index_ret = program->probedesc_count++;
	return 0;
}

static int load_action(struct dbk_loader *loader, const struct dof_section *section, uint32_t i,
		       struct dbk_actdesc *action)
{
	const char *text = NULL;
	struct dof_actdesc desc;

	memcpy(&desc, loader->dof.image + section->offset + (size_t)i * sizeof(desc), sizeof(desc));
	if (desc.strtab != DOF_SECIDX_NONE)
		text = dbk_dof_string(&loader->dof, desc.strtab, desc.arg);
	if (desc.strtab != DOF_SECIDX_NONE && text == NULL)
		return dbk_refuse(loader->reason, -EINVAL,
				  "action %u: argument is not a string of section %u", i, desc.strtab);
	action->kind = desc.kind;
	action->tuple_count = desc.tuple_count;
	action->arg = desc.arg;
	action->text = text;
	return find_difo(loader, desc.difo, "an action", &action->difo);
}

static int load_actions(struct dbk_loader *loader, uint32_t index, struct dbk_ecbdesc *to)
{
	struct dbk_program *program = loader->program;
	struct dof_section section;
	uint32_t i, count;
	int error;

	if (index == DOF_SECIDX_NONE)
		return 0;
	error = dbk_dof_find(&loader->dof, index, DOF_SECT_ACTDESC, "an enabling", loader->reason,
			     &section);
	if (error != 0)
		return error;
	if (section.entry_bytes != sizeof(struct dof_actdesc) ||
	    section.bytes % sizeof(struct dof_actdesc) != 0)
		return dbk_refuse(loader->reason, -EINVAL,
				  "section %u: actions are not 32 bytes each", index);
	count = (uint32_t)(section.bytes / sizeof(struct dof_actdesc));
	if (count > DBK_ACTIONS_MAX)
		return dbk_refuse(loader->reason, -E2BIG,
				  "section %u: %u actions in one enabling, at most %u are done",
				  index, count, DBK_ACTIONS_MAX);
	program->action_count += count;
	if (program->action_count > DBK_PROGRAM_ACTIONS)
		return dbk_refuse(loader->reason, -E2BIG, "more than %u actions in one program",
				  DBK_PROGRAM_ACTIONS);
	error = dbk_loader_alloc(loader, (count + 1) * sizeof(*to->actions), (void **)&to->actions);
	for (i = 0; i < count && error == 0; i++)
		error = load_action(loader, &section, i, &to->actions[i]);
	if (error != 0)
		dbk_reason_prefix(loader->reason, "section", index);
	else
		to->action_count = count;
	return error;
}

static int load_ecbdesc(struct dbk_loader *loader, uint32_t index)
{
	struct dbk_program *program = loader->program;
	struct dof_section section = dbk_dof_section(&loader->dof, index);
	struct dbk_ecbdesc *to = &program->ecbdescs[program->ecbdesc_count];
	uint64_t destructive = 0;
	struct dof_ecbdesc desc;
	int error;

	if (section.bytes < sizeof(desc))
		return dbk_refuse(loader->reason, -EINVAL, "section %u: an enabling needs 24 bytes",
				  index);
	memcpy(&desc, loader->dof.image + section.offset, sizeof(desc));
	program->ecbdesc_count++;
	to->section = index;
	error = load_probedesc(loader, desc.probes, &to->probedesc);
	if (error == 0)
		error = find_difo(loader, desc.predicate, "a predicate", &to->predicate);
	if (error == 0)
		error = load_actions(loader, desc.actions, to);
	if (error != 0)
		return error;
	dbk_program_option(program, DTRACEOPT_DESTRUCTIVE, &destructive);
	error = dbk_actions_check(to, destructive != 0 && destructive != DTRACEOPT_UNSET,
				  loader->reason);
	if (error != 0)
		dbk_reason_prefix(loader->reason, "enabling in section", index);
	return error;
}

static int load_ecbdescs(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	uint32_t i, count = 0;
	int error;

	for (i = 0; i < loader->dof.section_count; i++)
		if (dbk_dof_section(&loader->dof, i).type == DOF_SECT_ECBDESC)
			count++;
	if (count > DBK_ECBDESCS_MAX)
		return dbk_refuse(loader->reason, -E2BIG, "%u enablings in one program, at most %u",
				  count, DBK_ECBDESCS_MAX);
	error = dbk_loader_alloc(loader, (count + 1) * sizeof(*program->ecbdescs),
				 (void **)&program->ecbdescs);
	if (error == 0)
		error = dbk_loader_alloc(loader, (count + 1) * sizeof(*program->probedescs),
					 (void **)&program->probedescs);
	for (i = 0; i < loader->dof.section_count && error == 0; i++) {
		if (dbk_dof_section(&loader->dof, i).type != DOF_SECT_ECBDESC)
			continue;
		error = load_ecbdesc(loader, i);
	}
	return error;
}

static int load(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	uint32_t scope;
	int error = dbk_loader_alloc(loader, DBK_VARS_MAX * sizeof(*program->vars),
				     (void **)&program->vars);

	for (scope = 0; scope < 3; scope++)
		loader->var_index[scope] =
			dbk_host_alloc((DIF_VAR_OTHER_MAX + 1) * sizeof(uint16_t));
	if (error != 0)
		return error;
	if (loader->var_index[0] == NULL || loader->var_index[1] == NULL ||
	    loader->var_index[2] == NULL)
		return dbk_refuse(loader->reason, -ENOMEM, "no memory for the program");
	error = load_options(loader);
	if (error == 0)
		error = load_strsize(loader);
	if (error == 0)
		error = load_target(loader);
	if (error == 0)
		error = load_difos(loader);
	if (error == 0)
		error = load_ecbdescs(loader);
	if (error == 0)
		error = dbk_places_load(loader);
	if (error == 0)
		error = dbk_cost_find(loader);
	return error;
}

static int load_image(struct dbk_loader *loader, const void *untrusted_dof, size_t bytes)
{
	struct dbk_program *program = loader->program;
	int error = dbk_loader_alloc(loader, bytes + 1, (void **)&program->image);

	if (error != 0)
		return error;
	if (bytes != 0)
		memcpy(program->image, untrusted_dof, bytes);
	error = dbk_dof_open(program->image, bytes, loader->reason, &loader->dof);
	if (error != 0)
		return error;
	program->image_bytes = loader->dof.bytes;
	return load(loader);
}

int dbk_program_load(const void *untrusted_dof, size_t bytes, struct dbk_reason *reason,
		     struct dbk_program **program_ret)
{
	struct dbk_program *program;
	struct dbk_loader *loader;
	uint32_t scope;
	int error;

	if (bytes > (8u << 20)) /* ioctl.h: DBK_DOF_BYTES_MAX */
		return dbk_refuse(reason, -E2BIG, "DOF of %U bytes, at most 8 MiB are loaded",
				  (uint64_t)bytes);
	loader = dbk_host_alloc(sizeof(*loader));
	program = dbk_host_alloc(sizeof(*program));
	if (loader == NULL || program == NULL) {
		dbk_host_free(loader);
		dbk_host_free(program);
		return dbk_refuse(reason, -ENOMEM, "no memory for the program");
	}
	loader->reason = reason;
	loader->program = program;
	error = load_image(loader, untrusted_dof, bytes);
	for (scope = 0; scope < 3; scope++)
		dbk_host_free(loader->var_index[scope]);
	dbk_host_free(loader);
	if (error != 0)
		dbk_program_destroy(program);
	else
		*program_ret = program;
	return error;
}

void dbk_program_destroy(struct dbk_program *program)
{
	uint32_t i;

	if (program == NULL)
		return;
	for (i = 0; i < program->section_count && program->difos != NULL; i++)
		dbk_difo_destroy(program->difos[i]);
	for (i = 0; i < program->ecbdesc_count; i++)
		dbk_host_free(program->ecbdescs[i].actions);
	dbk_host_free(program->difos);
	dbk_host_free(program->ecbdescs);
	dbk_host_free(program->probedescs);
	dbk_host_free(program->heavy);
	dbk_host_free(program->places);
	dbk_host_free(program->vars);
	dbk_host_free(program->image);
	dbk_host_free(program);
}

uint32_t dbk_program_probedesc_count(const struct dbk_program *program)
{
	return program->probedesc_count;
}

bool dbk_program_probedesc(const struct dbk_program *program, uint32_t index,
			   struct dbk_probedesc *description_ret)
{
	if (index >= program->probedesc_count)
		return false;
	*description_ret = program->probedescs[index];
	return true;
}

bool dbk_program_target(const struct dbk_program *program, const char **release_ret,
			bool *typed_ret, uint8_t btf_id_ret[16])
{
	if (!program->has_target)
		return false;
	*release_ret = program->target_release;
	*typed_ret = program->target_typed;
	memcpy(btf_id_ret, program->target_btf_id, sizeof(program->target_btf_id));
	return true;
}
