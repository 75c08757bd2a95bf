/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* variables.c - built-in, global and clause-local variables; see dif.h and docs/design/0021-one-reading-of-the-clock.md */
#include "engine/api/words.h"
#include "engine/run/dif.h"

__probe_ctx const char *dbk_name(struct dbk_cpu *cpu, uint32_t id, uint32_t *length_ret)
{
	if (id == DIF_VAR_EXECNAME) {
		*length_ret = dbk_text_length(dbk_host_execname(), DBK_EXECNAME_BYTES - 1);
		return dbk_host_execname();
	}
	if (id == DIF_VAR_ZONENAME) {
		*length_ret = 6;
		return "global"; /* Linux has one */
	}
	*length_ret = cpu->ecb->name_bytes[id - DIF_VAR_PROBEPROV];
	return dbk_probe_text(cpu->probe, id);
}

__probe_ctx static uint64_t name_copy(struct dbk_cpu *cpu, uint32_t id)
{
	uint32_t length;
	const char *name = dbk_name(cpu, id, &length);

	return dbk_new_string(cpu, name, length);
}

/* The thread's own time, which stands still while probes run: one reading per firing, as
 * dbk_timestamp(). */
__probe_ctx static uint64_t vtimestamp(struct dbk_cpu *cpu)
{
	if (cpu->vtimestamp_serial != cpu->serial) {
		cpu->vtimestamp = dbk_host_vtimestamp();
		cpu->vtimestamp_serial = cpu->serial;
	}
	return cpu->vtimestamp;
}

/* Depths are counted by walking: rare, and never more than a stack() could show. */
__probe_ctx static uint64_t stack_depth(struct dbk_cpu *cpu, bool user)
{
	uint32_t mark = cpu->scratch_used;
	uint64_t *pcs = dbk_scratch(cpu, DBK_STACKFRAMES_MAX * sizeof(*pcs)), bad = 0;
	uint32_t depth;

	if (pcs == NULL)
		return 0;
	depth = user ? dbk_host_ustack(cpu->frame, pcs, DBK_STACKFRAMES_MAX, &bad)
		     : dbk_host_stack(cpu->frame, pcs, DBK_STACKFRAMES_MAX);
	cpu->scratch_used = mark;
	if (!dbk_spend(cpu, DBK_WORK_WALK + (uint64_t)depth * DBK_WORK_FRAME))
		return 0;
	return bad != 0 ? dbk_fault(cpu, DTRACEFLT_BADSTACK, bad) : depth;
}

__probe_ctx static uint64_t rare_builtin(struct dbk_cpu *cpu, uint32_t id)
{
	switch (id) {
	case DIF_VAR_VTIMESTAMP:
		return vtimestamp(cpu);
	case DIF_VAR_CURCPU:
		return (uint64_t)(uintptr_t)&cpu->info;
	case DIF_VAR_WALLTIMESTAMP:
		return dbk_host_wall_ns();
	case DIF_VAR_IPL:
		return dbk_host_ipl();
	case DIF_VAR_EPID:
		return cpu->ecb->epid;
	case DIF_VAR_ID:
		return cpu->probe->id;
	case DIF_VAR_STACKDEPTH:
		return stack_depth(cpu, false);
	case DIF_VAR_USTACKDEPTH:
		return stack_depth(cpu, true);
	case DIF_VAR_CALLER:
		return dbk_spend(cpu, DBK_WORK_WALK) ? dbk_host_caller(cpu->frame) : 0;
	case DIF_VAR_UCALLER:
		return dbk_spend(cpu, DBK_WORK_FAULT) ? dbk_host_ucaller(cpu->frame) : 0;
	case DIF_VAR_ERRNO:
		return (uint64_t)(int64_t)dbk_host_errno(cpu->probe, cpu->frame);
	default:
		return name_copy(cpu, id);
	}
}

__probe_ctx uint64_t dbk_builtin(struct dbk_cpu *cpu, uint32_t id)
{
	if (id == DIF_VAR_PID)
		return dbk_host_pid();
	if (id == DIF_VAR_TIMESTAMP)
		return dbk_timestamp(cpu);
	if (id == DIF_VAR_TID)
		return dbk_host_tid();
	if (id == DIF_VAR_CURTHREAD)
		return dbk_host_curthread();
	if (id == DIF_VAR_UID)
		return dbk_host_uid();
	if (id == DIF_VAR_GID)
		return dbk_host_gid();
	if (id == DIF_VAR_PPID)
		return dbk_host_ppid();
	if (id == DIF_VAR_CPU)
		return cpu->index;
	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9)
		return dbk_argument(cpu->probe, cpu->args, cpu->frame, id - DIF_VAR_ARG0);
	return rare_builtin(cpu, id);
}

__probe_ctx void dbk_locals_clear(struct dbk_cpu *cpu)
{
	const struct dbk_program *program = cpu->consumer->program;
	uint8_t *locals = cpu->buffer->locals;
	uint32_t i;

	cpu->buffer->locals_serial = cpu->serial;
	memset(locals, 0, program->local_value_bytes);
	if (program->local_value_bytes == program->locals_bytes)
		return;
	for (i = 0; i < program->var_count; i++) {
		const struct dbk_var *var = &program->vars[i];

		if (var->scope != DIFV_SCOPE_LOCAL || !var->by_ref)
			continue;
		/* An empty string is one zero; the state word before it is zero as well. */
		memset(locals + var->offset - 8, 0, 8 + (var->is_string ? 8 : var->bytes));
	}
}

__probe_ctx uint64_t dbk_ref_load(uint8_t *storage, const struct dbk_var *var)
{
	uint8_t *data = storage + var->offset;

	if (dbk_load_relaxed((uint64_t *)(data - 8)) != 0)
		return 0;
	return (uint64_t)(uintptr_t)data;
}

__probe_ctx void dbk_ref_store(struct dbk_cpu *cpu, uint8_t *storage, const struct dbk_var *var,
			       uint64_t address)
{
	uint8_t *data = storage + var->offset;

	if (address != 0 && var->is_string) {
		if (dbk_copy_string(cpu, (char *)data, address, var->bytes) < 0)
			return;
	} else if (address != 0 && !dbk_load(cpu, data, address, var->bytes)) {
		return;
	}
	dbk_store_relaxed((uint64_t *)(data - 8), address == 0);
}
