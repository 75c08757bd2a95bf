/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * verify.c - nothing runs that was not verified: the instructions of one DIF object
 *
 * Control path.  What holds for every struct dbk_difo that leaves here, and
 * what the interpreter relies on without looking again: each instruction is
 * known, its registers exist, r0 is never written, branches go forward and stay
 * inside, the last instruction is a ret, table indices are in bounds, strings
 * end inside their table, variables are declared with the right scope and kind,
 * subroutines are offered.  Addresses and sizes are not known here: those
 * are checked when they are used.
 */
#include "engine/load/verify.h"
#include "engine/run/subr.h"
#include "engine/types/insn.h"

static const struct {
	uint8_t form; /* enum dif_form; op 0 and the gaps are not listed */
	const char *mnemonic;
} ops[] = {
#define OP(name, op, mnemonic, form) [op] = {form, mnemonic},
	DBK_DIF_OPS(OP)
#undef OP
};

/* What one instruction's check needs. */
struct verify {
	struct dbk_loader *loader;
	struct dbk_difo *difo;
	uint32_t pc;
	uint32_t word;
	uint32_t op;
	struct dbk_insn *to;
	uint32_t tuple_bytes; /* key bytes since the last flushts */
	uint64_t last_setx;   /* the size operand of a push is one in practice */
	uint32_t unset;	      /* registers that nothing may have been stored into, a bit each; see note_unset() */
};

static int refuse(struct verify *v, const char *text)
{
	return dbk_refuse(v->loader->reason, -EINVAL, "instruction %u (%s): %s", v->pc,
			  ops[v->op].mnemonic, text);
}

/* What an operand form does with a register field; OTHER: its bits are part of an index. */
enum field_use { OTHER, ZERO, READS, WRITES };

static const struct {
	uint8_t r1, r2, rd;
} form_fields[] = {
	[DIF_FORM_NONE] = {ZERO, ZERO, ZERO},
	[DIF_FORM_RD] = {ZERO, ZERO, READS}, /* ret */
	[DIF_FORM_R1] = {READS, ZERO, ZERO}, /* tst */
	[DIF_FORM_R1_RD] = {READS, ZERO, WRITES},
	[DIF_FORM_R1_R2] = {READS, READS, ZERO},
	[DIF_FORM_R1_R2_RD] = {READS, READS, WRITES},
	[DIF_FORM_R1_R2_RS] = {READS, READS, READS}, /* copys: memory in rs, as stores have it */
	[DIF_FORM_LOAD] = {READS, ZERO, WRITES},
	[DIF_FORM_STORE] = {READS, ZERO, READS},
	[DIF_FORM_INT_RD] = {OTHER, OTHER, WRITES},
	[DIF_FORM_STR_RD] = {OTHER, OTHER, WRITES},
	[DIF_FORM_VAR_RD] = {OTHER, OTHER, WRITES},
	[DIF_FORM_SUBR_RD] = {OTHER, OTHER, WRITES},
	[DIF_FORM_VAR_RS] = {OTHER, OTHER, READS},
	[DIF_FORM_VAR_RI_RD] = {OTHER, READS, WRITES},
	[DIF_FORM_PUSH] = {OTHER, READS, READS},
};

/* Checks one field and gives the register that the interpreter may read there: r0 if none. */
static int check_field(struct verify *v, uint32_t number, uint32_t use, uint8_t *to)
{
	*to = DIF_REG_R0;
	if (use == OTHER || (use == ZERO && number == 0))
		return 0;
	if (use == ZERO)
		return refuse(v, "unused bits are not 0");
	if (use == WRITES && number == DIF_REG_R0)
		return refuse(v, "%r0 cannot be written");
	if (number >= DIF_DIR_NREGS)
		return dbk_refuse(v->loader->reason, -EINVAL,
				  "instruction %u: register %%r%u does not exist", v->pc, number);
	*to = (uint8_t)number;
	return 0;
}

/* The interpreter reads all three registers before it knows which it needs. */
static int check_fields(struct verify *v)
{
	uint32_t form = ops[v->op].form;
	int error = check_field(v, DIF_INSTR_R1(v->word), form_fields[form].r1, &v->to->r1);

	if (error == 0)
		error = check_field(v, DIF_INSTR_R2(v->word), form_fields[form].r2, &v->to->r2);
	if (error == 0)
		error = check_field(v, DIF_INSTR_RD(v->word), form_fields[form].rd, &v->to->rd);
	return error;
}

#define LOADS(sb, sh, sw, ub, uh, uw, x, iop)                                                      \
	[sb] = {iop, 1 | DBK_LOAD_SIGNED}, [sh] = {iop, 2 | DBK_LOAD_SIGNED},                      \
	[sw] = {iop, 4 | DBK_LOAD_SIGNED}, [ub] = {iop, 1}, [uh] = {iop, 2}, [uw] = {iop, 4}, [x] = {iop, 8},

/* By DIF instruction: its operation, and its argument if that is a constant. */
static const struct {
	uint8_t iop, arg;
} decoded[] = {
/* A row without an instruction is after all instructions. */
#define OWN(name, dif, text, facts) [(dif) != 0 ? (dif) : 0x80 + DBK_IOP_##name] = {DBK_IOP_##name, 0},
	DBK_IOPS(OWN)
#undef OWN
	[DIF_OP_STB] = {DBK_IOP_STORE, 1}, [DIF_OP_STH] = {DBK_IOP_STORE, 2},
	[DIF_OP_STW] = {DBK_IOP_STORE, 4}, [DIF_OP_STX] = {DBK_IOP_STORE, 8},
	LOADS(DIF_OP_LDSB, DIF_OP_LDSH, DIF_OP_LDSW, DIF_OP_LDUB, DIF_OP_LDUH, DIF_OP_LDUW,
	      DIF_OP_LDX, DBK_IOP_LOAD)
	/* Restricted loads are checked like all loads: there is nothing more to restrict. */
	LOADS(DIF_OP_RLDSB, DIF_OP_RLDSH, DIF_OP_RLDSW, DIF_OP_RLDUB, DIF_OP_RLDUH, DIF_OP_RLDUW,
	      DIF_OP_RLDX, DBK_IOP_LOAD)
	LOADS(DIF_OP_ULDSB, DIF_OP_ULDSH, DIF_OP_ULDSW, DIF_OP_ULDUB, DIF_OP_ULDUH,
	      DIF_OP_ULDUW, DIF_OP_ULDX, DBK_IOP_LOAD_USER)
};

static int decode_branch(struct verify *v)
{
	uint32_t label = DIF_INSTR_LABEL(v->word);

	if (label <= v->pc)
		return refuse(v, "branches may only go forward");
	if (label >= v->difo->insn_count)
		return refuse(v, "branches past the last instruction");
	v->to->r1 = v->to->r2 = v->to->rd = 0;
	v->to->arg = label;
	return 0;
}

static int decode_constant(struct verify *v)
{
	uint32_t index = DIF_INSTR_INTEGER(v->word);

	v->to->arg = index;
	if (v->op == DIF_OP_SETX) {
		if (index >= v->difo->integer_count)
			return refuse(v, "integer table index out of range");
		v->last_setx = v->difo->integers[index];
		return 0;
	}
	if (index >= v->difo->string_bytes)
		return refuse(v, "string table index out of range");
	return 0;
}

static int decode_builtin(struct verify *v, uint32_t id)
{
	if (v->op != DIF_OP_LDGS)
		return refuse(v, "a built-in variable cannot be written");
	if (!dbk_builtin_offered(id))
		return dbk_refuse(v->loader->reason, -EINVAL,
				  "instruction %u: built-in variable 0x%x (%s) is not offered here",
				  v->pc, (uint64_t)id, dbk_builtin_name(id));
	v->to->op = DBK_IOP_LOAD_VAR;
	v->to->arg = id;
	if (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9) {
		v->to->op = DBK_IOP_LOAD_ARG;
		v->to->arg = id - DIF_VAR_ARG0;
	}
	return 0;
}

/* Scope, kind and our operations of the instructions that name a user variable. */
static const struct {
	uint8_t op, scope, kind, iop, iop_ref;
} variable_ops[] = {
	{DIF_OP_LDGS, DIFV_SCOPE_GLOBAL, DIFV_KIND_SCALAR, DBK_IOP_LOAD_GLOBAL,
	 DBK_IOP_LOAD_GLOBAL_REF},
	{DIF_OP_STGS, DIFV_SCOPE_GLOBAL, DIFV_KIND_SCALAR, DBK_IOP_STORE_GLOBAL,
	 DBK_IOP_STORE_GLOBAL_REF},
	{DIF_OP_LDLS, DIFV_SCOPE_LOCAL, DIFV_KIND_SCALAR, DBK_IOP_LOAD_LOCAL,
	 DBK_IOP_LOAD_LOCAL_REF},
	{DIF_OP_STLS, DIFV_SCOPE_LOCAL, DIFV_KIND_SCALAR, DBK_IOP_STORE_LOCAL,
	 DBK_IOP_STORE_LOCAL_REF},
	{DIF_OP_LDTS, DIFV_SCOPE_THREAD, DIFV_KIND_SCALAR, DBK_IOP_LOAD_THREAD,
	 DBK_IOP_LOAD_THREAD},
	{DIF_OP_STTS, DIFV_SCOPE_THREAD, DIFV_KIND_SCALAR, DBK_IOP_STORE_THREAD,
	 DBK_IOP_STORE_THREAD},
	{DIF_OP_LDGAA, DIFV_SCOPE_GLOBAL, DIFV_KIND_ARRAY, DBK_IOP_LOAD_ARRAY, DBK_IOP_LOAD_ARRAY},
	{DIF_OP_STGAA, DIFV_SCOPE_GLOBAL, DIFV_KIND_ARRAY, DBK_IOP_STORE_ARRAY,
	 DBK_IOP_STORE_ARRAY},
	{DIF_OP_LDTAA, DIFV_SCOPE_THREAD, DIFV_KIND_ARRAY, DBK_IOP_LOAD_THREAD_ARRAY,
	 DBK_IOP_LOAD_THREAD_ARRAY},
	{DIF_OP_STTAA, DIFV_SCOPE_THREAD, DIFV_KIND_ARRAY, DBK_IOP_STORE_THREAD_ARRAY,
	 DBK_IOP_STORE_THREAD_ARRAY},
};

static int decode_variable(struct verify *v)
{
	struct dbk_loader *loader = v->loader;
	uint32_t id = DIF_INSTR_VAR(v->word), i;
	const struct dbk_var *var;
	int32_t index;

	if (id < DIF_VAR_OTHER_UBASE && (v->op == DIF_OP_LDGS || v->op == DIF_OP_STGS))
		return decode_builtin(v, id);
	for (i = 0; variable_ops[i].op != v->op; i++)
		dbk_assert(i + 1 < DBK_ARRAY_COUNT(variable_ops));
	index = dbk_var_find(loader, variable_ops[i].scope, id);
	if (index < 0)
		return dbk_refuse(loader->reason, -EINVAL,
				  "instruction %u: variable 0x%x is not declared with this scope",
				  v->pc, (uint64_t)id);
	var = &loader->program->vars[index];
	if (var->kind != variable_ops[i].kind)
		return refuse(v, "the variable is declared as the other of scalar and array");
	v->to->op = var->by_ref ? variable_ops[i].iop_ref : variable_ops[i].iop;
	/* A by-value scalar's offset is known only when all variables are: dbk_vars_layout(). */
	v->to->arg = (uint32_t)index;
	if (var->scope == DIFV_SCOPE_LOCAL)
		v->difo->uses_locals = true;
	if (var->kind == DIFV_KIND_ARRAY && v->tuple_bytes > v->difo->tuple_bytes)
		v->difo->tuple_bytes = v->tuple_bytes;
	return 0;
}

static int decode_array(struct verify *v)
{
	uint32_t id = DIF_INSTR_R1(v->word);

	if (v->op == DIF_OP_LDTA)
		return refuse(v, "there are no thread-local arrays of this kind");
	v->to->op = id == DIF_VAR_ARGS ? DBK_IOP_LOAD_ARGS : DBK_IOP_LOAD_UREGS;
	if (id != DIF_VAR_ARGS && id != DIF_VAR_UREGS)
		return refuse(v, "only the arrays args and uregs are offered here");
	return 0;
}

static int decode_call(struct verify *v)
{
	uint32_t id = DIF_INSTR_SUBR(v->word);
	uint64_t destructive = 0;

	if (id > DIF_SUBR_MAX)
		return dbk_refuse(v->loader->reason, -EINVAL,
				  "instruction %u: subroutine %u does not exist", v->pc, id);
	if (!dbk_subr_offered(id))
		return dbk_refuse(v->loader->reason, -EINVAL,
				  "instruction %u: subroutine %s() is not offered here", v->pc,
				  dbk_subr_name(id));
	dbk_program_option(v->loader->program, DTRACEOPT_DESTRUCTIVE, &destructive);
	if (dbk_subr_is_destructive(id) && (destructive == 0 || destructive == DTRACEOPT_UNSET))
		return dbk_refuse(v->loader->reason, -EINVAL,
				  "instruction %u: %s() is destructive, and option destructive is "
				  "not set",
				  v->pc, dbk_subr_name(id));
	if (id == DIF_SUBR_SPECULATION)
		v->loader->program->calls_speculation = true;
	v->to->arg = id;
	return 0;
}

static int decode_push(struct verify *v)
{
	uint32_t type = DIF_INSTR_TYPE(v->word);
	uint64_t bytes = 8;

	if (type != DIF_TYPE_CTF && type != DIF_TYPE_STRING)
		return refuse(v, "a tuple member is neither an integer nor a string");
	v->to->r1 = (uint8_t)type;
	/* What the key will take: strings by strsize, other references by their size operand. */
	if (v->op == DIF_OP_PUSHTR && type == DIF_TYPE_STRING)
		bytes = v->loader->program->strsize + 1;
	else if (v->op == DIF_OP_PUSHTR)
		bytes = v->last_setx < DBK_KEY_BYTES_MAX ? v->last_setx : DBK_KEY_BYTES_MAX;
	v->tuple_bytes += (uint32_t)DBK_ROUND_UP(bytes, 8);
	if (v->tuple_bytes > DBK_KEY_BYTES_MAX)
		v->tuple_bytes = DBK_KEY_BYTES_MAX;
	return 0;
}

static int verify_insn(struct verify *v)
{
	int error;

	v->op = DIF_INSTR_OP(v->word);
	if (v->op >= DBK_ARRAY_COUNT(ops) || ops[v->op].mnemonic == NULL)
		return dbk_refuse(v->loader->reason, -EINVAL,
				  "instruction %u: opcode %u does not exist", v->pc, v->op);
	if (ops[v->op].form == DIF_FORM_XLREF_RD)
		return refuse(v, "translators must be resolved before loading");
	v->to->op = decoded[v->op].iop;
	v->to->arg = decoded[v->op].arg;
	if (ops[v->op].form == DIF_FORM_LABEL)
		return decode_branch(v);
	error = check_fields(v);
	if (error != 0)
		return error;
	switch (ops[v->op].form) {
	case DIF_FORM_INT_RD:
	case DIF_FORM_STR_RD:
		return decode_constant(v);
	case DIF_FORM_VAR_RD:
	case DIF_FORM_VAR_RS:
		return decode_variable(v);
	case DIF_FORM_VAR_RI_RD:
		return decode_array(v);
	case DIF_FORM_SUBR_RD:
		return decode_call(v);
	case DIF_FORM_PUSH:
		return decode_push(v);
	default:
		dbk_assert(v->to->op != DBK_IOP_RET || v->op == DIF_OP_RET); /* it has a row */
		if (v->op == DIF_OP_FLUSHTS)
			v->tuple_bytes = 0;
		return 0;
	}
}

/* In the place of r0, which is always 0: what a conditional branch compares. */
#define COMPARED 1u
#define ALL_UNSET 0xffu

static uint32_t bit_if(bool is_so, uint32_t number)
{
	return is_so ? 1u << number : 0;
}

/*
 * Whether the instruction may read what no instruction before it stored, so that the interpreter has to zero it
 * first.  Branches go forward, so that all ways to an instruction are known when its turn comes.
 */
static void note_unset(struct verify *v)
{
	uint8_t *arriving = v->loader->unset;
	uint32_t form = ops[v->op].form, read = 0, written = 0;

	v->unset |= arriving[v->pc];
	if (form == DIF_FORM_LABEL) {
		dbk_assert(v->to->arg > v->pc);
		read = v->op == DIF_OP_BA ? 0 : COMPARED;
		arriving[v->to->arg] |= (uint8_t)v->unset;
	} else {
		read = bit_if(form_fields[form].r1 == READS, v->to->r1) |
		       bit_if(form_fields[form].r2 == READS, v->to->r2) |
		       bit_if(form_fields[form].rd == READS, v->to->rd);
		read &= ~COMPARED; /* r0 */
		written = bit_if(form_fields[form].rd == WRITES, v->to->rd);
	}
	if ((dbk_iop_facts(v->to->op) & DBK_OP_COMPARES) != 0)
		written |= COMPARED;
	v->difo->reads_unset |= (read & v->unset) != 0;
	v->unset &= ~written;
	/* The next one is not reached from here. */
	if (v->op == DIF_OP_BA || v->op == DIF_OP_RET)
		v->unset = 0;
}

/* What the instruction costs, without what its subroutine or memory does. */
static uint32_t work_of(const struct dbk_insn *insn)
{
	if (insn->op == DBK_IOP_CALL ||
	    (insn->op == DBK_IOP_LOAD_ARG && insn->arg >= DBK_ARGS_AT_HAND))
		return DBK_WORK_CALL;
	return insn->op < DBK_IOP_HOT_END && insn->op != DBK_IOP_LOAD_VAR ? DBK_WORK_HOT
									  : DBK_WORK_INSN;
}

int dbk_difo_verify(struct dbk_loader *loader, struct dbk_difo *difo, const uint8_t *code)
{
	struct verify v;
	int error;

	memset(&v, 0, sizeof(v));
	v.loader = loader;
	v.difo = difo;
	v.unset = ALL_UNSET;
	dbk_assert(difo->insn_count <= DBK_INSNS_MAX);
	memset(loader->unset, 0, difo->insn_count);
	for (v.pc = 0; v.pc < difo->insn_count; v.pc++) {
		memcpy(&v.word, code + (size_t)v.pc * 4, 4);
		v.to = &difo->insns[v.pc];
		error = verify_insn(&v);
		if (error != 0)
			return error;
		note_unset(&v);
		difo->work += work_of(v.to);
	}
	if (difo->insns[difo->insn_count - 1].op != DBK_IOP_RET)
		return dbk_refuse(loader->reason, -EINVAL, "the last instruction is not ret");
	return 0;
}
