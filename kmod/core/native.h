/* SPDX-License-Identifier: GPL-2.0-only */
/* native.h - native programs that were linked to the module (daybreak embed --native) */
#ifndef DBK_KMOD_NATIVE_H
#define DBK_KMOD_NATIVE_H

#include "engine/api/engine.h"

/**
 * dbk_native_bind() - lets a consumer run what was compiled from its program, if anything was
 * @name: of the ring, for the log
 * @anonymous: the module or its folder brought the program, so that a native one is expected
 *
 * Between dbk_consumer_create() and dbk_consumer_enable().  In a module with native programs one line of the
 * log says how much of this one is native, or that nothing is.
 */
void dbk_native_bind(struct dbk_consumer *consumer, const char *name, bool anonymous);

#endif /* DBK_KMOD_NATIVE_H */
