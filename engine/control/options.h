/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * options.h - the options of a ring
 *
 * Control path.  What a program's option section says, with the defaults of what
 * it leaves out; a ring is tried with halves of the sizes when memory is short.
 */
#ifndef DBK_ENGINE_OPTIONS_H
#define DBK_ENGINE_OPTIONS_H

#include "engine/control/state.h"

/* As asked for; sizes in bytes. */
struct dbk_options {
	uint64_t bufsize, bufpolicy, segmentsize, aggsize, aggregate, stackframes, ustackframes,
		jstackframes, dynvarsize, bufresize, cpu;
	uint64_t ringtime_ns, ringmax, ustackbytes; /* 0: not set */
};

/** dbk_options_read() - the program's options, in bounds; -EINVAL with the reason when one is not
 */
int dbk_options_read(const struct dbk_engine *engine, const struct dbk_program *program,
		     const struct dbk_consumer_config *config, struct dbk_options *o,
		     struct dbk_reason *reason);

/** dbk_options_apply() - fills the consumer, and a META_RING of its own, in; -ENOMEM */
int dbk_options_apply(struct dbk_consumer *consumer, const struct dbk_consumer_config *config,
		      const struct dbk_options *o);

#endif /* DBK_ENGINE_OPTIONS_H */
