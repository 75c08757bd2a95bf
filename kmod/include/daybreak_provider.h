/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * daybreak_provider.h - probes of another kernel module's own (docs/own-providers.md)
 *
 *	static struct daybreak_probe probes[] = {
 *		{ .function = "queue", .name = "put", .arg_count = 2 },
 *		{ .function = "queue", .name = "get", .arg_count = 1 },
 *	};
 *
 *	err = daybreak_provider_register("mine", probes, ARRAY_SIZE(probes));
 *	...
 *	daybreak_fire(&probes[0], (unsigned long)item, bytes);
 *	...
 *	daybreak_provider_unregister(probes, ARRAY_SIZE(probes));
 *
 * is traced as `mine::queue:put { trace(arg1); }`.
 */
#ifndef DAYBREAK_PROVIDER_H
#define DAYBREAK_PROVIDER_H

#include <linux/module.h>
#include <linux/types.h>

#define DAYBREAK_ARGS_MAX 10
#define DAYBREAK_PROBES_MAX 1024 /* of one module at once; of all modules four times as many */

struct daybreak_probe {
	const char *function; /* "" or a word */
	const char *name;     /* a word; '-' may be in it */
	u32 arg_count;	      /* at most DAYBREAK_ARGS_MAX */
	u32 handle;	      /* Daybreak's; 0 while it is not registered, and nothing fires */
};

int __daybreak_probe_register(struct module *owner, const char *provider, const char *function,
			      const char *name, u32 arg_count);
void __daybreak_probes_unregister(struct module *owner, const struct daybreak_probe *probes, u32 count);
void __daybreak_fire(u32 handle, const u64 *args, u32 count);

/**
 * daybreak_provider_unregister() - takes probes back; those that are not registered are passed over
 *
 * When a module goes, its probes go with it in any case.
 * Context: may sleep; waits once, however many there are.
 */
static inline void daybreak_provider_unregister(struct daybreak_probe *probes, u32 count)
{
	u32 i;

	__daybreak_probes_unregister(THIS_MODULE, probes, count);
	for (i = 0; i < count; i++)
		probes[i].handle = 0;
}

/**
 * daybreak_provider_register() - publishes probes of the module that is compiled
 * @provider: a word of letters, digits and '_', with a letter at its beginning and no digit at its
 * end, that is not the name of a provider of Daybreak's or another module's
 * @probes:   @count of them; their names are copied
 *
 * May be called again, for more probes, of the same provider too.
 * Context: may sleep.
 * Return: 0; -EINVAL: a name or a number of arguments that cannot be; -EEXIST: the provider is
 * another's, or one of the probes is there; -ENOSPC: more than DAYBREAK_PROBES_MAX, or other
 * modules have all; -EWOULDBLOCK: not in this context; -EINTR; -ENOMEM.  Then none is registered.
 */
static inline int daybreak_provider_register(const char *provider, struct daybreak_probe *probes,
					     u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		int handle = __daybreak_probe_register(THIS_MODULE, provider, probes[i].function,
						       probes[i].name, probes[i].arg_count);

		if (handle < 0) {
			daybreak_provider_unregister(probes, i);
			return handle;
		}
		probes[i].handle = handle;
	}
	return 0;
}

/**
 * daybreak_fire() - fires a probe with up to DAYBREAK_ARGS_MAX integers; those that it lacks are 0
 *
 * Context: any, an NMI too.
 */
#define daybreak_fire(probe, ...)                                                                  \
	do {                                                                                       \
		const u64 daybreak_args[] = { 0, ##__VA_ARGS__ };                                  \
		__daybreak_fire((probe)->handle, daybreak_args + 1,                                \
				ARRAY_SIZE(daybreak_args) - 1);                                    \
	} while (0)

#endif /* DAYBREAK_PROVIDER_H */
