// SPDX-License-Identifier: GPL-2.0-only
/* uprobe_register() returns a handle, by which it is unregistered in two steps. */
#include <linux/uprobes.h>

struct uprobe *probe(struct inode *inode, struct uprobe_consumer *consumer)
{
	struct uprobe *uprobe = uprobe_register(inode, 0, 0, consumer);

	uprobe_unregister_nosync(uprobe, consumer);
	uprobe_unregister_sync();
	return uprobe;
}
