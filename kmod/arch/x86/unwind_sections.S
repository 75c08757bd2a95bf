/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_sections.S - where kmod/build puts the unwind tables: can be written to, for unwind.c sorts them
 */
	.section .daybreak_orc_ip, "aw", @progbits
	.section .daybreak_orc, "aw", @progbits
