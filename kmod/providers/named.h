/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * named.h - probes that are made when a program names them, and go when none needs them
 *
 * Such a provider has a set of what was made.  Its struct for a probe begins with a struct dbk_named, is allocated with
 * kzalloc(), and fires from a hook of its own, which is away when disable() has returned and one wait has passed
 * (dbk_host_synchronize()).  With the last ring that had the probe it is retired: dbk_providers_retire().
 */
#ifndef DBK_KMOD_NAMED_H
#define DBK_KMOD_NAMED_H

#include "kmod/providers/provider.h"

struct dbk_named {
	struct dbk_probe probe;
	struct list_head link; /* [S] in its set */
};

struct dbk_named_set {
	struct list_head probes; /* [S] */
	u32 count;		 /* [S] */
	u32 count_max;		 /* [C] */
	/* unhook() - takes @count out of the kernel that are out of the engine; may be NULL */
	void (*unhook)(struct list_head *gone, u32 count);
};

#define DBK_NAMED_SET(set, max, ...)                                                               \
	static struct dbk_named_set set = {                                                        \
		.probes = LIST_HEAD_INIT(set.probes), .count_max = max, ##__VA_ARGS__              \
	}

/** dbk_named_check() - before a probe is made.  Context: [S].
 * Return: 0; -EEXIST: there is one of the name; -E2BIG: no more are made, which is said to @requester. */
int dbk_named_check(const struct dbk_provider *provider, const struct dbk_requester *requester,
		    const char *function, const char *name);

/**
 * dbk_named_add() - publishes a probe
 * @named: module, function, name and arguments are there
 *
 * Context: [S].
 * Return: as dbk_probe_add(); after -EINVAL it is the caller's.
 */
int dbk_named_add(const struct dbk_provider *provider, struct dbk_named *named);

/** dbk_named_retire() - those that no ring has are gone.  Context: [S]. */
void dbk_named_retire(const struct dbk_provider *provider);

#endif /* DBK_KMOD_NAMED_H */
