// SPDX-License-Identifier: GPL-2.0-only
/* rethook whose nodes the caller adds one by one. */
#include <linux/rethook.h>

#ifndef CONFIG_RETHOOK
#error not built in
#endif

static void on_return(struct rethook_node *node, void *data, struct pt_regs *regs)
{
}

struct rethook *probe(struct rethook_node *node)
{
	struct rethook *rethook = rethook_alloc(NULL, on_return);

	rethook_add_node(rethook, node);
	return rethook;
}
