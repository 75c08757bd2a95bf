/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * reason.h - sentences that say why something was refused
 *
 * Control path only.  A reason is built from a format with %s, %u (uint32_t),
 * %U (uint64_t) and %x (uint64_t, hexadecimal); what does not fit is cut.
 */
#ifndef DBK_ENGINE_REASON_H
#define DBK_ENGINE_REASON_H

#include "engine/api/engine.h"

/** dbk_refuse() - writes the sentence into @reason (which may be NULL); returns @error, for `return
 * dbk_refuse(...)` */
int dbk_refuse(struct dbk_reason *reason, int error, const char *format, ...);

/** dbk_reason_prefix() - puts "<what> <number>: " before the sentence that is there */
void dbk_reason_prefix(struct dbk_reason *reason, const char *what, uint32_t number);

#endif /* DBK_ENGINE_REASON_H */
