/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * phase.h - what the D library's bootphase cannot see in the kernel (docs/design/0080-bootphase.md)
 */
#ifndef DBK_KMOD_PHASE_H
#define DBK_KMOD_PHASE_H

/**
 * dbk_boot_running - 1: systemd has reached its default target, or had when the module came
 *
 * Read by D programs, as daybreak`dbk_boot_running; never goes back to 0.
 */
extern unsigned int dbk_boot_running;

/** dbk_phase_init() - begins to look for the end of start-up.  Context: may sleep. */
void dbk_phase_init(void);

/** dbk_phase_exit() - the reverse; the hook may still be on its way back. */
void dbk_phase_exit(void);

#endif /* DBK_KMOD_PHASE_H */
