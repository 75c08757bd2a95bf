/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * embed_section.S - where DOF is embedded
 *
 * An empty container (formats/abi/embed.h) in a section of its own, allocated
 * and read-only.  `daybreak embed` gives the section new contents of another
 * size; the symbol stays at its start.  Nothing else lies in this section, and
 * no relocation points into its middle.
 */
	.section .rodata.daybreak_dof, "a", @progbits
	.balign	16
	.globl	dbk_embedded
	.type	dbk_embedded, @object
dbk_embedded:
	.ascii	"DBKDOF1\0"	/* magic: DBK_EMBED_MAGIC */
	.quad	24		/* total_bytes: the header alone */
	.long	0		/* image_count */
	.long	0		/* reserved */
