/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * program.h - from a DOF image to a struct dbk_program
 *
 * Control path.  A loader lives while one image is loaded; everything it finds
 * is checked where it is read, so that what it leaves can be used
 * without another look.
 */
#ifndef DBK_ENGINE_PROGRAM_H
#define DBK_ENGINE_PROGRAM_H

#include "engine/load/dof.h"

/* A symbol of the kernel that the program names. */
struct dbk_symbol {
	const char *name; /* in the image */
	uint32_t bytes;	  /* of it, without NUL */
	uint64_t address;
};

struct dbk_loader {
	struct dbk_dof dof;
	struct dbk_reason *reason;
	struct dbk_program *program;
	uint32_t insn_count; /* of all DIFOs so far, and so on */
	uint32_t var_count;
	uint32_t reloc_count;
	uint32_t symbol_count;
	struct dbk_symbol symbols[DBK_PROGRAM_SYMBOLS];
	uint16_t *var_index[3]; /* by scope, then id: index in program->vars + 1 */
	uint8_t unset[DBK_INSNS_MAX]; /* of a DIFO, by instruction: what a branch to it leaves unset; see verify.c */
};

/** dbk_loader_alloc() - zeroed memory that the program keeps; -ENOMEM, -E2BIG beyond
 * DBK_PROGRAM_BYTES, with the reason */
int dbk_loader_alloc(struct dbk_loader *loader, uint64_t bytes, void **memory_ret);

/** dbk_difo_load() - section @index, a DIFOHDR: verified, decoded, lowered */
int dbk_difo_load(struct dbk_loader *loader, uint32_t index, struct dbk_difo **difo_ret);

/** dbk_difo_destroy() - NULL is fine */
void dbk_difo_destroy(struct dbk_difo *difo);

/** dbk_vars_load() - enters the variables of one VARTAB into the program */
int dbk_vars_load(struct dbk_loader *loader, const uint8_t *table, uint32_t count);

/** dbk_vars_layout() - gives every scalar its offset, once all are known */
int dbk_vars_layout(struct dbk_loader *loader);

/** dbk_var_find() - the variable's index in the program, or -1 */
int32_t dbk_var_find(const struct dbk_loader *loader, uint32_t scope, uint32_t id);

/** dbk_builtin_offered() - whether this engine has built-in scalar @id */
bool dbk_builtin_offered(uint32_t id);

/** dbk_builtin_name() - its D name, or "?" */
const char *dbk_builtin_name(uint32_t id);

/** dbk_actions_check() - whether this engine can do what an ECBDESC's actions say; @destructive:
 * option destructive is set */
int dbk_actions_check(const struct dbk_ecbdesc *desc, bool destructive, struct dbk_reason *reason);

/** dbk_operands_read() - the arguments of a mark from its note's text; returns how many */
uint32_t dbk_operands_read(const char *untrusted_text,
			   struct dbk_operand operands[DBK_PLACE_OPERANDS_MAX]);

/** dbk_places_load() - the places in files that the program wants probes at */
int dbk_places_load(struct dbk_loader *loader);

/** dbk_cost_find() - which probe descriptions have a heavy clause, once all are loaded */
int dbk_cost_find(struct dbk_loader *loader);

#endif /* DBK_ENGINE_PROGRAM_H */
