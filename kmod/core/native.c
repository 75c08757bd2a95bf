// SPDX-License-Identifier: GPL-2.0-only
/*
 * native.c - native programs: which of them is a consumer's
 *
 * Their table is in what kmod/build compiles for daybreak embed --native and links to
 * a module that was built before; a module as it comes has the empty one here.  A program
 * is found by the whole of its DOF: one that was embedded later is interpreted.
 */
#include <linux/moduleparam.h>
#include <linux/printk.h>

#include "kmod/core/native.h"

static bool native = true;
module_param(native, bool, 0444);
MODULE_PARM_DESC(native, "run what embed --native compiled; off: interpret it");

extern const struct dbk_native_program *const dbk_native_programs[];
const struct dbk_native_program *const dbk_native_programs[] __weak = { NULL };

/* What is linked later must be compiled with the headers that this module was: the name, which kmod/build looks for, has
 * their checksum. */
extern const char DBK_NATIVE_INTERFACE;
const char DBK_NATIVE_INTERFACE = 0;

static const struct dbk_native_program *bound(struct dbk_consumer *consumer)
{
	const struct dbk_native_program *const *program = dbk_native_programs;

	for (; *program && !dbk_consumer_bind(consumer, *program); program++)
		if (!dbk_native_is_whole(*program))
			pr_warn_once("a native program is left out: another version of daybreak translated it\n");
	return *program;
}

void dbk_native_bind(struct dbk_consumer *consumer, const char *name, bool anonymous)
{
	const struct dbk_native_program *program;

	if (!*dbk_native_programs)
		return;
	if (!native) {
		pr_info("ring %s is interpreted: native=off\n", name);
		return;
	}
	program = bound(consumer);
	if (program)
		pr_info("ring %s: %u of %u clauses are native, of %u more the expressions\n", name,
			dbk_native_count(program, DBK_NATIVE_WHOLE), program->part->clause_count,
			dbk_native_count(program, DBK_NATIVE_VALUES));
	else if (anonymous)
		pr_warn("ring %s is interpreted: the module has no native program of its DOF and options\n",
			name);
}
