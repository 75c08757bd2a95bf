/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * faults.h - why the execution of a DIF object was given up
 *
 * A fault discards the record of the ECB that met it and fires dtrace:::ERROR
 * with the code as arg4.  Numbers and texts are those of every DTrace port; from 2000 on they are
 * Daybreak's own.
 */
#ifndef DBK_ABI_FAULTS_H
#define DBK_ABI_FAULTS_H

/* X(published name, code, text of the message, whether arg5 is an address) */
#define DBK_FAULTS(X)                                                                              \
	X(DTRACEFLT_UNKNOWN, 0, "unknown fault", 0)                                                \
	X(DTRACEFLT_BADADDR, 1, "invalid address", 1)                                              \
	X(DTRACEFLT_BADALIGN, 2, "invalid alignment", 1)                                           \
	X(DTRACEFLT_ILLOP, 3, "illegal operation", 0)                                              \
	X(DTRACEFLT_DIVZERO, 4, "divide-by-zero", 0)                                               \
	X(DTRACEFLT_NOSCRATCH, 5, "out of scratch space", 0)                                       \
	X(DTRACEFLT_KPRIV, 6, "invalid kernel access", 0)                                          \
	X(DTRACEFLT_UPRIV, 7, "invalid user access", 0)                                            \
	X(DTRACEFLT_TUPOFLOW, 8, "tuple stack overflow", 0)                                        \
	X(DTRACEFLT_BADSTACK, 9, "bad stack", 1)                                                   \
	X(DTRACEFLT_LIBRARY, 1000, "library-level fault", 0)                                       \
	X(DTRACEFLT_WORK, 2000, "work limit exceeded", 0)

#define DBK_FAULT_ENUM(name, code, text, has_address) name = code,
enum dbk_fault { DBK_FAULTS(DBK_FAULT_ENUM) };
#undef DBK_FAULT_ENUM

#endif /* DBK_ABI_FAULTS_H */
