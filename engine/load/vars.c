/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* vars.c - the program's variables: declared by each DIF object, laid out once; see program.h */
#include "engine/load/program.h"
#include "engine/types/insn.h"

#define GLOBALS_BYTES_MAX (16u << 20)
#define LOCALS_BYTES_MAX  (1u << 20) /* per CPU */

static const struct {
	uint32_t id;
	const char *name;
} builtins[] = {
#define VAR(name, id, text) {id, text},
	DBK_DIF_VARS(VAR)
#undef VAR
};

const char *dbk_builtin_name(uint32_t id)
{
	uint32_t i;

	for (i = 0; i < DBK_ARRAY_COUNT(builtins); i++)
		if (builtins[i].id == id)
			return builtins[i].name;
	return "?";
}

bool dbk_builtin_offered(uint32_t id)
{
	return (id >= DIF_VAR_CURTHREAD && id <= DIF_VAR_CURCPU) || id == DIF_VAR_CPU;
}

int32_t dbk_var_find(const struct dbk_loader *loader, uint32_t scope, uint32_t id)
{
	return (int32_t)loader->var_index[scope][id & DIF_VAR_OTHER_MAX] - 1;
}

static int check_entry(struct dbk_loader *loader, const struct dif_var_entry *entry)
{
	if (entry->scope > DIFV_SCOPE_LOCAL || entry->kind > DIFV_KIND_SCALAR)
		return dbk_refuse(loader->reason, -EINVAL,
				  "variable 0x%x has scope %u and kind %u, which do not exist",
				  (uint64_t)entry->id, (uint32_t)entry->scope,
				  (uint32_t)entry->kind);
	if (entry->id > DIF_VAR_OTHER_MAX)
		return dbk_refuse(loader->reason, -EINVAL, "variable id 0x%x is beyond 0xffff",
				  (uint64_t)entry->id);
	if (entry->type.kind > DIF_TYPE_STRING || (entry->type.flags & ~DIF_TF_BYREF) != 0)
		return dbk_refuse(loader->reason, -EINVAL, "variable 0x%x has an unknown type",
				  (uint64_t)entry->id);
	if (entry->scope == DIFV_SCOPE_LOCAL && entry->kind == DIFV_KIND_ARRAY)
		return dbk_refuse(loader->reason, -EINVAL,
				  "variable 0x%x is a clause-local array, which D does not have",
				  (uint64_t)entry->id);
	return 0;
}

static int enter(struct dbk_loader *loader, const struct dif_var_entry *entry)
{
	struct dbk_program *program = loader->program;
	struct dbk_var *var;
	bool is_string = entry->type.kind == DIF_TYPE_STRING;
	bool by_ref = is_string || (entry->type.flags & DIF_TF_BYREF) != 0;
	uint32_t bytes = is_string ? program->strsize + 1 : by_ref ? entry->type.size : 8;
	int32_t index = dbk_var_find(loader, entry->scope, entry->id);

	if (index >= 0) {
		var = &program->vars[index];
		if (var->kind != entry->kind || var->by_ref != by_ref ||
		    var->is_string != is_string || var->bytes != bytes)
			return dbk_refuse(loader->reason, -EINVAL,
					  "variable 0x%x is declared with another type than before",
					  (uint64_t)entry->id);
		return 0;
	}
	if (bytes > DBK_VAR_BYTES_MAX)
		return dbk_refuse(loader->reason, -E2BIG,
				  "variable 0x%x has %u bytes, at most %u are kept",
				  (uint64_t)entry->id, bytes, DBK_VAR_BYTES_MAX);
	if (program->var_count == DBK_VARS_MAX)
		return dbk_refuse(loader->reason, -E2BIG, "more than %u variables in one program",
				  DBK_VARS_MAX);
	var = &program->vars[program->var_count++];
	var->id = entry->id;
	var->scope = entry->scope;
	var->kind = entry->kind;
	var->by_ref = by_ref;
	var->is_string = is_string;
	var->bytes = bytes;
	loader->var_index[entry->scope][entry->id] = (uint16_t)program->var_count;
	return 0;
}

int dbk_vars_load(struct dbk_loader *loader, const uint8_t *table, uint32_t count)
{
	struct dif_var_entry entry;
	uint32_t i;
	int error;

	loader->var_count += count;
	if (loader->var_count > DBK_PROGRAM_VARS)
		return dbk_refuse(loader->reason, -E2BIG,
				  "more than %u entries in the variable tables of one program",
				  DBK_PROGRAM_VARS);
	for (i = 0; i < count; i++) {
		memcpy(&entry, table + (size_t)i * sizeof(entry), sizeof(entry));
		error = check_entry(loader, &entry);
		if (error != 0)
			return error;
		/* Built-ins are listed too; whether one is offered matters only where it is used.
		 */
		if (entry.id < DIF_VAR_OTHER_UBASE)
			continue;
		error = enter(loader, &entry);
		if (error != 0)
			return error;
	}
	return 0;
}

static bool is_static(const struct dbk_var *var, uint32_t scope)
{
	return var->scope == scope && var->kind == DIFV_KIND_SCALAR;
}

/* By-value slots first, so that locals are cleared with one memset. */
static uint64_t lay_out_scope(struct dbk_program *program, uint32_t scope, uint32_t *values_ret)
{
	uint64_t at = 0;
	uint32_t i;

	for (i = 0; i < program->var_count; i++) {
		if (is_static(&program->vars[i], scope) && !program->vars[i].by_ref) {
			program->vars[i].offset = (uint32_t)at;
			at += 8;
		}
	}
	*values_ret = (uint32_t)at;
	for (i = 0; i < program->var_count; i++) {
		if (is_static(&program->vars[i], scope) && program->vars[i].by_ref) {
			program->vars[i].offset = (uint32_t)at + 8;
			at += 8 + DBK_ROUND_UP(program->vars[i].bytes, 8);
		}
	}
	return at;
}

static void set_offsets(struct dbk_program *program, struct dbk_difo *difo)
{
	uint32_t i;

	for (i = 0; i < difo->insn_count; i++) {
		struct dbk_insn *insn = &difo->insns[i];

		if ((dbk_iop_facts(insn->op) & DBK_OP_PLACED) != 0)
			insn->arg = program->vars[insn->arg].offset;
	}
}

/* What dbk_locals_clear() does. */
static uint32_t locals_work(const struct dbk_program *program)
{
	uint32_t work = DBK_WORK_CALL + program->local_value_bytes, i;

	for (i = 0; i < program->var_count; i++) {
		const struct dbk_var *var = &program->vars[i];

		work += DBK_WORK_HOT;
		if (is_static(var, DIFV_SCOPE_LOCAL) && var->by_ref)
			work += DBK_WORK_INSN + (var->is_string ? 8 : var->bytes);
	}
	return work;
}

int dbk_vars_layout(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	uint64_t globals, locals;
	uint32_t i, values;

	globals = lay_out_scope(program, DIFV_SCOPE_GLOBAL, &values);
	locals = lay_out_scope(program, DIFV_SCOPE_LOCAL, &values);
	if (globals > GLOBALS_BYTES_MAX || locals > LOCALS_BYTES_MAX)
		return dbk_refuse(loader->reason, -E2BIG,
				  "the program's variables need %U bytes, at most %u",
				  globals + locals, GLOBALS_BYTES_MAX);
	program->globals_bytes = (uint32_t)globals;
	program->locals_bytes = (uint32_t)locals;
	program->local_value_bytes = values;
	program->locals_work = locals_work(program);
	for (i = 0; i < program->var_count; i++) {
		const struct dbk_var *var = &program->vars[i];
		/* Not 0 even for an empty structure: this also says that there are some. */
		uint32_t bytes = var->bytes > 8 ? (uint32_t)DBK_ROUND_UP(var->bytes, 8) : 8;

		if ((var->scope == DIFV_SCOPE_THREAD || var->kind == DIFV_KIND_ARRAY) &&
		    program->dynamic_data_bytes < bytes)
			program->dynamic_data_bytes = bytes;
	}
	for (i = 0; i < program->section_count; i++) {
		if (program->difos[i] == NULL)
			continue;
		set_offsets(program, program->difos[i]);
		if (program->dynamic_key_bytes < program->difos[i]->tuple_bytes)
			program->dynamic_key_bytes = program->difos[i]->tuple_bytes;
	}
	return 0;
}
