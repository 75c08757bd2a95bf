/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * host.h - what the rest of the module asks of the engine's host
 */
#ifndef DBK_KMOD_HOST_H
#define DBK_KMOD_HOST_H

/** dbk_thread_init() - seeds rand() */
void dbk_thread_init(void);

/** dbk_act_init() - readies the deferral of destructive actions; before any probe fires */
void dbk_act_init(void);

/** dbk_act_drain() - waits until those that were asked for are done; no probe fires any more */
void dbk_act_drain(void);

/** dbk_cpus_init() - the engine, which exists, gets its CPUs: those online, and each that comes */
int dbk_cpus_init(void);

/** dbk_cpus_exit() - none comes any more */
void dbk_cpus_exit(void);

#endif /* DBK_KMOD_HOST_H */
