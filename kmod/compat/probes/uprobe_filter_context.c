// SPDX-License-Identifier: GPL-2.0-only
/* A consumer's filter takes the reason why it is asked. */
#include <linux/uprobes.h>

bool probe(struct uprobe_consumer *consumer, struct mm_struct *mm)
{
	return consumer->filter(consumer, UPROBE_FILTER_MMAP, mm);
}
