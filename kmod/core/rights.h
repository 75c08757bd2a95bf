/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rights.h - who may trace, and what a kernel that is locked down lets a program do
 *
 * A process that enables a program reads all memory.  The file's mode asks for user 0 only; a user 0 without
 * capabilities (containers, sandboxes) is asked for what perf and BPF together ask for.  Kernel
 * lockdown can be raised at any time, so every program is held against it:
 *
 *   integrity        no destructive program: refused
 *   confidentiality  no kernel memory, registers or stacks: what asks for them faults with KPRIV
 */
#ifndef DBK_KMOD_RIGHTS_H
#define DBK_KMOD_RIGHTS_H

#include "kmod/state.h"

/** dbk_rights_open() - CAP_SYS_ADMIN, or CAP_PERFMON and CAP_BPF.  Return: 0 or -EPERM. */
int dbk_rights_open(void);

/**
 * dbk_rights_restrict() - takes from a program what lockdown forbids
 * @remark: what it lost; else as it was
 * @reason: why it is refused; else as it was
 *
 * Before dbk_consumer_create().
 * Return: 0 or -EPERM.
 */
int dbk_rights_restrict(struct dbk_program *program, struct dbk_reason *remark,
			struct dbk_reason *reason);

#endif /* DBK_KMOD_RIGHTS_H */
