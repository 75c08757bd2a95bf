# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# arch.sh - what kmod/build and kmod/compat/configure ask of x86; both source it, with $kernel the kernel's build folder

link_emulation=elf_x86_64
link_script=$kernel/scripts/module.lds # Debian has it beside the architecture's Makefile
[ -f "$link_script" ] || link_script=$kernel/arch/x86/module.lds

# The kernel would sort unwind tables of their own names (unwind.c).
unwind_script() {
	cat <<-'END'
		SECTIONS {
			.daybreak_orc_ip 0 : ALIGN(4) {
				dbk_orc_ip_start = .; *(.daybreak_orc_ip) *(.orc_unwind_ip) dbk_orc_ip_end = .;
			}
			.daybreak_orc 0 : ALIGN(4) { dbk_orc_start = .; *(.daybreak_orc) *(.orc_unwind) }
		}
	END
}

# Tables of system calls, and the headers that list them.
syscall_tables="DBK_CALL_NATIVE unistd_64.h
DBK_CALL_I386 unistd_32.h
DBK_CALL_X32 unistd_x32.h"
syscall_base='__X32_SYSCALL_BIT + ' # of the numbers of some
syscall_headers=$kernel/arch/x86/include/generated/uapi/asm
