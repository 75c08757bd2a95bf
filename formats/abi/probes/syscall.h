/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * syscall.h - provider syscall: its probes are the kernel's tables of system calls (kmod/providers/syscall.c)
 */
DBK_ABSENT(syscall, "x32", "there only where the kernel takes calls of x32 programs, Debian's with syscall.x32=y on its command line")
