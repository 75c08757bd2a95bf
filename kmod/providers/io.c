// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.c - provider io: requests to block devices
 *
 *   start  a request is about to be handed to its device   arg0: the struct bio
 *   done   it is completed                                 arg0: the struct bio
 *
 * A request to a device that is made of others (md, dm) is one of its own for each.
 */
#include <linux/blk_types.h>

#include "kmod/core/site.h"

enum { QUEUE, COMPLETE, SITES };
enum { START, DONE, PROBES };

static struct dbk_site_probe probes[PROBES] = {
	[START] = { "start", QUEUE, 1 },
	[DONE] = { "done", COMPLETE, 1 },
};

static __probe_ctx void on_queue(void *site, struct bio *bio)
{
	u64 args[] = { (unsigned long)bio };

	dbk_site_fire(site, &probes[START], args);
}

static __probe_ctx void on_complete(void *site, struct request_queue *queue, struct bio *bio)
{
	u64 args[] = { (unsigned long)bio };

	dbk_site_fire(site, &probes[DONE], args);
}

static struct dbk_site sites[SITES] = {
	[QUEUE] = { "block_bio_queue", on_queue },
	[COMPLETE] = { "block_bio_complete", on_complete },
};

static const struct dbk_site_provider io = {
	.provider = &dbk_provider_io,
	.sites = sites,
	.probes = probes,
	.site_count = SITES,
	.probe_count = PROBES,
};

DBK_SITE_PROVIDER(io, "io");
