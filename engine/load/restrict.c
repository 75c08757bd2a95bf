/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * restrict.c - takes privileges from a program
 *
 * Control path.  Where a load or an action meets what it may not, it asks; built-in
 * variables are asked for too often for that.  So the loads of those that need a
 * privilege become another instruction, as other ports make restricted loads of an
 * unprivileged program's: who has all privileges pays nothing.
 */
#include "engine/load/program.h"
#include "engine/lower/lower.h"
#include "engine/types/insn.h"

static bool needs_lacking(uint32_t id, uint32_t lacks)
{
	switch (id) {
	case DIF_VAR_CURTHREAD:
	case DIF_VAR_CALLER:
	case DIF_VAR_STACKDEPTH:
	case DIF_VAR_IPL:
		return (lacks & DBK_LACKS_KERNEL) != 0;
	case DIF_VAR_UCALLER:
	case DIF_VAR_USTACKDEPTH:
		return (lacks & DBK_LACKS_PROC) != 0;
	default:
		return false;
	}
}

static void restrict_difo(const struct dbk_program *program, struct dbk_difo *difo, uint32_t lacks)
{
	bool changed = false;
	uint32_t i;

	for (i = 0; i < difo->insn_count; i++) {
		struct dbk_insn *insn = &difo->insns[i];

		if (insn->op != DBK_IOP_LOAD_VAR || !needs_lacking(insn->arg, lacks))
			continue;
		insn->op = DBK_IOP_LOAD_GUARDED;
		changed = true;
	}
	if (changed)
		dbk_difo_lower(program, difo);
}

void dbk_program_restrict(struct dbk_program *program, uint32_t lacks)
{
	uint32_t i;

	program->lacks |= lacks;
	for (i = 0; i < program->section_count; i++)
		if (program->difos[i] != NULL)
			restrict_difo(program, program->difos[i], lacks);
}
