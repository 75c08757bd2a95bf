/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cost.c - clauses whose firings may take long, found in the verified program
 *
 * Long is what walks a stack, and what touches memory that may not be there: each such access is
 * a page fault.  What hangs on curthread is there.
 */
#include "engine/dif/insn.h"

static bool variable_is_heavy(uint32_t id)
{
	return id == DIF_VAR_STACKDEPTH || id == DIF_VAR_USTACKDEPTH || id == DIF_VAR_UCALLER;
}

static bool subroutine_is_heavy(uint32_t id)
{
	switch (id) {
	case DIF_SUBR_COPYIN:
	case DIF_SUBR_COPYINSTR:
	case DIF_SUBR_COPYINTO:
	case DIF_SUBR_COPYOUT:
	case DIF_SUBR_COPYOUTSTR:
	case DIF_SUBR_D_PATH:
	case DIF_SUBR_DDI_PATHNAME:
		return true;
	default:
		return false;
	}
}

/* Registers whose value was computed from curthread, bit by bit. */
static uint32_t known_after(const struct dbk_insn *insn, uint32_t known)
{
	uint32_t rd = 1u << insn->rd;
	bool from_r1 = (known & 1u << insn->r1) != 0, from_r2 = (known & 1u << insn->r2) != 0;

	/* What lies behind a branch may be reached in two ways. */
	if ((insn->op >= DBK_IOP_BE && insn->op <= DBK_IOP_BA) ||
	    (insn->op >= DBK_IOP_BG && insn->op <= DBK_IOP_BLEU))
		return 0;
	switch (insn->op) {
	case DBK_IOP_LOAD_VAR:
		return insn->arg == DIF_VAR_CURTHREAD ? known | rd : known & ~rd;
	case DBK_IOP_MOV:
	case DBK_IOP_LOAD:
		return from_r1 ? known | rd : known & ~rd;
	case DBK_IOP_ADD:
		return from_r1 || from_r2 ? known | rd : known & ~rd;
	case DBK_IOP_RET:
	case DBK_IOP_CMP:
	case DBK_IOP_TST:
		return known;
	default:
		return known & ~rd;
	}
}

static bool difo_is_heavy(const struct dbk_difo *difo)
{
	bool has_argument = false, calls = false;
	uint32_t known = 0, i;

	if (difo == NULL)
		return false;
	for (i = 0; i < difo->insn_count; i++) {
		const struct dbk_insn *insn = &difo->insns[i];

		has_argument |= insn->op == DBK_IOP_LOAD_ARG || insn->op == DBK_IOP_LOAD_ARGS;
		calls |= insn->op == DBK_IOP_CALL;
		if ((insn->op == DBK_IOP_LOAD && !(known & 1u << insn->r1)) ||
		    insn->op == DBK_IOP_LOAD_USER || insn->op == DBK_IOP_LOAD_UREGS ||
		    (insn->op == DBK_IOP_LOAD_VAR && variable_is_heavy(insn->arg)) ||
		    (insn->op == DBK_IOP_CALL && subroutine_is_heavy(insn->arg)))
			return true;
		known = known_after(insn, known);
	}
	/* A subroutine, or the action, reads where the argument leads. */
	return has_argument && (calls || (difo->type.flags & DIF_TF_BYREF) != 0);
}

static bool action_is_heavy(const struct dbk_actdesc *action)
{
	switch (action->kind) {
	case DTRACEACT_STACK:
	case DTRACEACT_USTACK:
	case DTRACEACT_JSTACK:
		return true;
	default:
		return difo_is_heavy(action->difo);
	}
}

bool dbk_program_probedesc_is_heavy(const struct dbk_program *program, uint32_t index)
{
	uint32_t i, k;

	for (i = 0; i < program->ecbdesc_count; i++) {
		const struct dbk_ecbdesc *clause = &program->ecbdescs[i];

		if (clause->probedesc != index)
			continue;
		if (difo_is_heavy(clause->predicate))
			return true;
		for (k = 0; k < clause->action_count; k++)
			if (action_is_heavy(&clause->actions[k]))
				return true;
	}
	return false;
}
