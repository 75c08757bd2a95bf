/* SPDX-License-Identifier: Apache-2.0 */
/* What `daybreak embed` needs to see of a module: .modinfo, the container, references to it. */
	.section .modinfo, "a", @progbits
	.asciz	"license=GPL"
	.asciz	"version=0.1.0"
	.asciz	"vermagic=6.1.0-test-amd64 SMP preempt mod_unload modversions "

	.section .rodata.daybreak_dof, "a", @progbits
	.globl	dbk_embedded
	.balign	8
dbk_embedded:
	.ascii	"DBKDOF1\0"
	.quad	24
	.long	0, 0

	.text
	.globl	start
start:
	leaq	dbk_embedded(%rip), %rax
	ret
	.section .note.GNU-stack, "", @progbits
