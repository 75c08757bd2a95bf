// SPDX-License-Identifier: GPL-2.0-only
/* fprobe: a set of functions by address, with handlers that get a struct pt_regs. */
#include <linux/fprobe.h>

#ifndef CONFIG_FPROBE
#error not built in
#endif

static int on_call(struct fprobe *fprobe, unsigned long ip, unsigned long return_ip,
		   struct pt_regs *regs, void *data)
{
	return 1;
}

static void on_return(struct fprobe *fprobe, unsigned long ip, unsigned long return_ip,
		      struct pt_regs *regs, void *data)
{
}

int probe(struct fprobe *fprobe, unsigned long *sites, int count)
{
	fprobe->entry_handler = on_call;
	fprobe->exit_handler = on_return;
	fprobe->entry_data_size = sizeof(void *);
	fprobe->nr_maxactive = 1;
	fprobe->ops.flags |= FTRACE_OPS_FL_PERMANENT;
	return register_fprobe_ips(fprobe, sites, count) ?: (int)fprobe->nmissed;
}
