// SPDX-License-Identifier: GPL-2.0-only
/* Kernel lockdown, and whether it lets BPF programs read and write. */
#include <linux/security.h>

int probe(void)
{
	return security_locked_down(LOCKDOWN_BPF_WRITE_USER) ?:
	       security_locked_down(LOCKDOWN_BPF_READ_KERNEL);
}
