/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine.h - what happens to the machine, written where it can be found
 *
 * Theory.  Two blocks of the module say it: META_LOG, a ring of the kernel's own
 * messages, and META_CRASH, an entry for each way to end.  They are written by
 * functions whose names begin with dbk_dying_, called while the machine may be
 * dying: from each message (console.h), a notifier of oopses, one of panics.
 *
 *   console text ---------> META_LOG                        the last words
 *   "Kernel panic - ..." -> META_CRASH, then seal           kexec skips notifiers
 *   panic notifier -------> META_CRASH, trigger, seal       the others stand still
 *   die notifier ---------> META_CRASH, trigger, seal       an oops: the machine goes on
 *   reboot notifier ------> META_CRASH                      it went down in order
 *
 * Whatever they call is listed in kmod/triggers/panic_allowed.txt, and
 * tests/lint/panic_path.py proves it: no lock, no waiting, no allocation, no
 * message.  The reason is marked before anything else is done, each kind of end
 * is claimed by one atomic operation, so that a panic within the panic finds it
 * taken, and sealing has a bound.
 */
#ifndef DBK_KMOD_MACHINE_H
#define DBK_KMOD_MACHINE_H

#include "kmod/state.h"

/* Text that is put together without a formatter. */
struct dbk_line {
	u32 used;
	char text[DBK_CRASH_REASON_BYTES];
};

/** dbk_dying_text() - appends up to a NUL, a line's end, or @bytes_max; what does not fit is cut */
void dbk_dying_text(struct dbk_line *line, const char *text, u32 bytes_max);

/** dbk_dying_hex() - appends 0x and the digits */
void dbk_dying_hex(struct dbk_line *line, u64 value);

/** dbk_dying_decimal() - appends at least @digits of them */
void dbk_dying_decimal(struct dbk_line *line, u64 value, u32 digits);

/** dbk_machine_create() - the blocks LOG and CRASH; dbk.boot_id is known.  Return: 0 or -ENOMEM. */
int dbk_machine_create(void);

/** dbk_machine_destroy() - gives them back; nothing writes any more */
void dbk_machine_destroy(void);

/** dbk_dying_log() - a line for META_LOG, without its end; the time goes in front.  Any context */
void dbk_dying_log(const char *text, u32 bytes);

/**
 * dbk_dying_mark() - the machine ends, or has an oops: marks it in META_CRASH
 * @reason: what the kernel said
 *
 * Only the first of a state is written; further ones are counted.
 * Context: Any, NMI and a panic included.
 */
void dbk_dying_mark(enum dbk_crash_state state, const struct dbk_line *reason);

/** dbk_dying_seal() - seals the segments of all rings and CPUs, as long as that takes less than
 * half a second.  Any context in which RCU waits for the caller, or when no ring can go */
void dbk_dying_seal(enum dbk_seal how);

/** dbk_dying_add() and _remove() - whose segments that are.  A ring beyond the first 64 is not
 * sealed.  Before a consumer goes, it is removed, and the host synchronized.  Context: [S]. */
void dbk_dying_add(struct dbk_consumer *consumer);
void dbk_dying_remove(struct dbk_consumer *consumer);

#endif /* DBK_KMOD_MACHINE_H */
