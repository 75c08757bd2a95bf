// SPDX-License-Identifier: Apache-2.0
//
// The verifier's promises, checked on the decoded instructions
//
// Written from what the interpreter relies on, not from how the verifier looks for it: registers
// exist, r0 is never written, every branch goes forward and stays inside (so a run has at most as
// many steps as there are instructions), the last instruction returns, and what an instruction
// names lies in its table.
#include "tests/fuzz/verifier/accepted.h"

#include "engine/types/insn.h"
#include "engine/run/subr.h"

#include <stddef.h>

static uint64_t image_sum;

static uint64_t sum_of(const struct dbk_program* program) {
    uint64_t sum = 14695981039346656037ull;
    uint32_t i;

    for (i = 0; i < program->image_bytes; i++)
        sum = (sum ^ program->image[i]) * 1099511628211ull;
    return sum;
}

static int is_branch(uint32_t op) {
    return op == DBK_IOP_BA || op == DBK_IOP_BE || op == DBK_IOP_BNE ||
           (op >= DBK_IOP_BG && op <= DBK_IOP_BLEU);
}

static int writes_register(uint32_t op) {
    switch (op) {
    case DBK_IOP_RET:
    case DBK_IOP_CMP:
    case DBK_IOP_TST:
    case DBK_IOP_SCMP:
    case DBK_IOP_STORE:
    case DBK_IOP_STORE_GLOBAL:
    case DBK_IOP_STORE_LOCAL:
    case DBK_IOP_STORE_THREAD:
    case DBK_IOP_STORE_ARRAY:
    case DBK_IOP_STORE_THREAD_ARRAY:
    case DBK_IOP_STORE_GLOBAL_REF:
    case DBK_IOP_STORE_LOCAL_REF:
    case DBK_IOP_PUSH_REF:
    case DBK_IOP_PUSH_VALUE:
    case DBK_IOP_POP:
    case DBK_IOP_FLUSH:
    case DBK_IOP_COPYS:
    case DBK_IOP_NOP:
        return 0;
    default:
        return !is_branch(op);
    }
}

static const char* check_variable(const struct dbk_program* program, const struct dbk_insn* insn) {
    switch (insn->op) {
    case DBK_IOP_LOAD_GLOBAL:
    case DBK_IOP_STORE_GLOBAL:
        return insn->arg + 8ull <= program->globals_bytes ? NULL : "a global outside";
    case DBK_IOP_LOAD_LOCAL:
    case DBK_IOP_STORE_LOCAL:
        return insn->arg + 8ull <= program->locals_bytes ? NULL : "a local outside";
    default:
        if (insn->op < DBK_IOP_LOAD_THREAD || insn->op > DBK_IOP_STORE_LOCAL_REF)
            return NULL;
        return insn->arg < program->var_count ? NULL : "a variable that is not there";
    }
}

static const char* check_insn(const struct dbk_program* program, const struct dbk_difo* difo,
                              uint32_t pc) {
    const struct dbk_insn* insn = &difo->insns[pc];

    if (insn->op > DBK_IOP_NOP)
        return "an unknown operation";
    if (is_branch(insn->op))
        return insn->arg > pc && insn->arg < difo->insn_count ? NULL : "a branch not forward";
    if (insn->rd >= DIF_DIR_NREGS || insn->r2 >= DIF_DIR_NREGS)
        return "a register that is not there";
    /* A push keeps its type in r1. */
    if (insn->op != DBK_IOP_PUSH_REF && insn->op != DBK_IOP_PUSH_VALUE && insn->r1 >= DIF_DIR_NREGS)
        return "a register that is not there";
    if (writes_register(insn->op) && insn->rd == DIF_REG_R0)
        return "r0 is written";
    if (insn->op == DBK_IOP_SETX && insn->arg >= difo->integer_count)
        return "an integer outside its table";
    if (insn->op == DBK_IOP_SETS && insn->arg >= difo->string_bytes)
        return "a string outside its table";
    if (insn->op == DBK_IOP_CALL && !dbk_subr_offered(insn->arg))
        return "a subroutine that is not there";
    return check_variable(program, insn);
}

const char* accepted_wrongly(const struct dbk_program* program) {
    uint32_t i, pc;

    for (i = 0; i < program->section_count; i++) {
        const struct dbk_difo* difo = program->difos[i];

        if (difo == NULL)
            continue;
        for (pc = 0; pc < difo->insn_count; pc++) {
            const char* why = check_insn(program, difo, pc);

            if (why != NULL)
                return why;
        }
        if (difo->insns[difo->insn_count - 1].op != DBK_IOP_RET)
            return "no ret at the end";
        if (difo->string_bytes != 0 && difo->strings[difo->string_bytes - 1] != '\0')
            return "a string table without an end";
    }
    image_sum = sum_of(program);
    return NULL;
}

const char* accepted_image_change(const struct dbk_program* program) {
    return sum_of(program) == image_sum ? NULL : "the program changed its own image";
}
