/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * dtaudit.h - provider dtaudit: records of the audit subsystem, by FreeBSD's names
 *
 * arg0 is the struct audit_buffer, whose text is whole.
 */
DBK_PLACE(dtaudit, "event", "audit_log", "commit", "6.1+", ENTRY, audit_log_end, (void *record), record, PASS(record))

DBK_ABSENT(dtaudit, "bsm", "records are text: dtaudit:::commit")
