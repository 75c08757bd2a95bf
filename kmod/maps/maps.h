/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * maps.h - which files processes have mapped as code, for the names of user addresses
 *
 * While a ring wants it, executed programs, forks, ends of processes and new mappings of code are
 * entered into blocks of ring 0 (formats/abi/maps.h); what lives already is listed first.  No ring
 * wants it: nothing is hooked, and it costs nothing (docs/design/0081-maps-of-processes.md).
 *
 *   setup_new_exec()     an image begins: the old program's mappings are gone
 *   perf_event_mmap()    a mapping was made, or its protection changed
 *   copy_vma()           a mapping is moved; what is there no longer, unmap_vmas() says
 *   unmap_vmas()         mappings were unmapped, replaced or moved away; or all of a process are,
 *                        which is not entered
 *   sched_process_fork   the child's mappings are listed, before it runs; many by the child itself,
 *                        before it is in user space (task work), as preemption is off here
 *   sched_process_exit   the last thread ends
 */
#ifndef DBK_KMOD_MAPS_H
#define DBK_KMOD_MAPS_H

/** dbk_maps_get() - one more ring wants maps; the first begins.  Without memory or hooks the
 * kernel's log says so, and there are none.  Context: [S]; may sleep.
 * Return: 0; -EINTR: the caller is killed, and not all that lives is listed.  To be put in any case. */
int dbk_maps_get(void);

/** dbk_maps_put() - one less; the last ends it.  Context: [S]; may sleep. */
void dbk_maps_put(void);

/** dbk_maps_look() - now and then: more memory when there is too little, and what lives is listed again when
 * entries were lost.  Context: [S]; may sleep. */
void dbk_maps_look(void);

/** dbk_maps_destroy() - frees the blocks, when no ring is left */
void dbk_maps_destroy(void);

#endif /* DBK_KMOD_MAPS_H */
