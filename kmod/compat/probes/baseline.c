// SPDX-License-Identifier: GPL-2.0-only
/* Must compile on every kernel. */
#include <linux/module.h>

int probe(void)
{
	return 0;
}
