/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cost.c - clauses whose firings may take long, found in the verified program
 *
 * Long is what walks a stack, and what touches memory that may not be there: each such access is
 * a page fault.  There are the engine's own strings and variables by reference, and what hangs on
 * curthread.  An expression is followed instruction by instruction, with the registers that lead
 * to such memory whichever way was taken: branches go forward, so one pass will do.
 */
#include "engine/load/program.h"
#include "engine/types/actions.h"
#include "engine/types/insn.h"

#define ALL_REGISTERS 0xffu /* where no branch arrives: neutral for an intersection */

struct walk {
	const struct dbk_program *program;
	const struct dbk_difo *difo;
	uint8_t *arriving; /* by instruction: what is known in all branches to it, a bit a register */
	bool has_number;   /* from outside the expression: it may lead anywhere */
	bool follows;	   /* a subroutine goes where such a number leads */
};

static bool variable_is_heavy(uint32_t id)
{
	return id == DIF_VAR_STACKDEPTH || id == DIF_VAR_USTACKDEPTH || id == DIF_VAR_UCALLER;
}

static bool variable_leads_somewhere(uint32_t id)
{
	return id == DIF_VAR_CURTHREAD || id == DIF_VAR_CURCPU || id == DIF_VAR_EXECNAME ||
	       id == DIF_VAR_ZONENAME || (id >= DIF_VAR_PROBEPROV && id <= DIF_VAR_PROBENAME);
}

static bool subroutine_is_heavy(uint32_t id)
{
	switch (id) {
	case DIF_SUBR_COPYIN:
	case DIF_SUBR_COPYINSTR:
	case DIF_SUBR_COPYINTO:
	case DIF_SUBR_COPYINARGS:
	case DIF_SUBR_COPYOUT:
	case DIF_SUBR_COPYOUTSTR:
	case DIF_SUBR_D_PATH:
	case DIF_SUBR_DDI_PATHNAME:
		return true;
	default:
		return false;
	}
}

/* Whether it reads where a number leads that is not a string. */
static bool subroutine_follows(uint32_t id)
{
	return (id >= DIF_SUBR_MUTEX_OWNED && id <= DIF_SUBR_RW_ISWRITER) || id == DIF_SUBR_BCOPY ||
	       id == DIF_SUBR_INET_NTOP || id == DIF_SUBR_INET_NTOA || id == DIF_SUBR_INET_NTOA6 ||
	       id == DIF_SUBR_LINK_NTOP;
}

/* Of this instruction: those of its operation that hold. */
static uint32_t facts_of(const struct walk *walk, const struct dbk_insn *insn)
{
	uint32_t facts = dbk_iop_facts(insn->op);

	if ((facts & DBK_OP_EITHER) != 0)
		facts &= walk->program->vars[insn->arg].by_ref
				 ? ~DBK_OP_OUTSIDE
				 : ~(DBK_OP_LEADS | DBK_OP_THROUGH_RD);
	if (insn->op == DBK_IOP_RET && (walk->difo->type.flags & DIF_TF_BYREF) == 0)
		facts &= ~DBK_OP_THROUGH_RD;
	if (insn->op == DBK_IOP_LOAD_VAR && variable_leads_somewhere(insn->arg))
		facts |= DBK_OP_LEADS;
	return facts;
}

/* Registers that it reads memory through. */
static uint32_t followed(const struct dbk_insn *insn, uint32_t facts)
{
	return ((facts & DBK_OP_THROUGH_R1) != 0 ? 1u << insn->r1 : 0) |
	       ((facts & DBK_OP_THROUGH_R2) != 0 ? 1u << insn->r2 : 0) |
	       ((facts & DBK_OP_THROUGH_RD) != 0 ? 1u << insn->rd : 0);
}

/* What is known after the instruction, if the next one follows it. */
static uint32_t known_after(struct walk *walk, const struct dbk_insn *insn, uint32_t facts,
			    uint32_t known)
{
	uint32_t rd = 1u << insn->rd;

	if ((facts & DBK_OP_BRANCH) != 0) {
		walk->arriving[insn->arg] &= (uint8_t)known;
		return insn->op == DBK_IOP_BA ? ALL_REGISTERS : known;
	}
	if (insn->op == DBK_IOP_RET)
		return ALL_REGISTERS;
	if ((facts & DBK_OP_WRITES) == 0)
		return known;
	if ((facts & DBK_OP_LEADS) != 0 ||
	    ((facts & DBK_OP_KEEPS) != 0 && (known & (1u << insn->r1 | 1u << insn->r2)) != 0))
		return known | rd;
	return known & ~rd;
}

static bool difo_is_heavy(const struct dbk_program *program, const struct dbk_difo *difo,
			  uint8_t *arriving)
{
	struct walk walk = {.program = program, .difo = difo, .arriving = arriving};
	uint32_t known = 0, i;

	memset(arriving, ALL_REGISTERS, difo->insn_count);
	for (i = 0; i < difo->insn_count; i++) {
		const struct dbk_insn *insn = &difo->insns[i];
		uint32_t facts = facts_of(&walk, insn);

		known &= arriving[i];
		if ((followed(insn, facts) & ~known) != 0 || insn->op == DBK_IOP_LOAD_USER ||
		    insn->op == DBK_IOP_LOAD_UREGS ||
		    (insn->op == DBK_IOP_LOAD_VAR && variable_is_heavy(insn->arg)) ||
		    (insn->op == DBK_IOP_CALL && subroutine_is_heavy(insn->arg)))
			return true;
		walk.has_number |= (facts & DBK_OP_OUTSIDE) != 0;
		walk.follows |= insn->op == DBK_IOP_CALL && subroutine_follows(insn->arg);
		known = known_after(&walk, insn, facts, known);
	}
	return walk.has_number && walk.follows;
}

static bool clause_is_heavy(const struct dbk_ecbdesc *clause)
{
	uint32_t i;

	if (clause->predicate != NULL && clause->predicate->heavy)
		return true;
	for (i = 0; i < clause->action_count; i++) {
		const struct dbk_actdesc *action = &clause->actions[i];

		if (dbk_action_is_stack(action->kind) ||
		    (action->difo != NULL && action->difo->heavy))
			return true;
	}
	return false;
}

int dbk_cost_find(struct dbk_loader *loader)
{
	struct dbk_program *program = loader->program;
	uint8_t *arriving = dbk_host_alloc(DBK_INSNS_MAX);
	uint32_t i;
	int error;

	if (arriving == NULL)
		return dbk_refuse(loader->reason, -ENOMEM, "no memory for the program");
	/* Each object once, however many clauses have it. */
	for (i = 0; i < program->section_count; i++)
		if (program->difos[i] != NULL)
			program->difos[i]->heavy =
				difo_is_heavy(program, program->difos[i], arriving);
	dbk_host_free(arriving);
	error = dbk_loader_alloc(loader, program->probedesc_count + 1ull,
				 (void **)&program->heavy);
	for (i = 0; error == 0 && i < program->ecbdesc_count; i++)
		program->heavy[program->ecbdescs[i].probedesc] |=
			clause_is_heavy(&program->ecbdescs[i]);
	return error;
}

bool dbk_program_probedesc_is_heavy(const struct dbk_program *program, uint32_t index)
{
	return index < program->probedesc_count && program->heavy[index] != 0;
}
