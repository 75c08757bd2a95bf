/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trampolines.S - calls of functions that may not be called through a pointer; see callable.c
 *
 * A return is not tracked: the function's address is pushed above the caller's own, and "returned" to.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>

#include "arch/callable.h"

#ifdef DBK_HAS_TRAMPOLINES
.macro TRAMPOLINE number
SYM_FUNC_START(dbk_trampoline_\number)
	pushq dbk_trampoline_targets + 8 * \number(%rip)
	ANNOTATE_UNRET_SAFE
	ret
	int3
SYM_FUNC_END(dbk_trampoline_\number)
STACK_FRAME_NON_STANDARD dbk_trampoline_\number
.endm

	.text
	.set count, 0
	.rept DBK_TRAMPOLINES
	.altmacro
	TRAMPOLINE %count
	.noaltmacro
	.set count, count + 1
	.endr

/* Each by its name: what nothing names loses its endbr. */
.macro TRAMPOLINE_ADDRESS number
	.quad dbk_trampoline_\number
.endm

	.section .rodata
	.balign 8
SYM_DATA_START(dbk_trampolines)
	.set count, 0
	.rept DBK_TRAMPOLINES
	.altmacro
	TRAMPOLINE_ADDRESS %count
	.noaltmacro
	.set count, count + 1
	.endr
SYM_DATA_END(dbk_trampolines)
#endif
