// SPDX-License-Identifier: GPL-2.0-only
/* A consumer's handlers get a word that entry and return share. */
#include <linux/uprobes.h>

int probe(struct uprobe_consumer *consumer, struct pt_regs *regs, __u64 *data)
{
	return consumer->handler(consumer, regs, data);
}
