/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uprobe.h - the kernel's uprobes as all kernels have them
 *
 * Since v6.12 ("uprobes: make uprobe_register() return struct uprobe *") one is unregistered by
 * its handle, and waited for once for many.  Since v6.13 handlers get a word of data.
 */
#ifndef DBK_KMOD_UPROBE_H
#define DBK_KMOD_UPROBE_H

#include <linux/err.h>
#include <linux/sched.h>
#include <linux/uprobes.h>

#include "engine/api/platform.h"

#ifdef DBK_HAVE_UPROBE_DATA
#define DBK_UPROBE_DATA , __u64 *data
#else
#define DBK_UPROBE_DATA
#endif
#ifdef DBK_HAVE_UPROBE_FILTER_CONTEXT
#define DBK_UPROBE_FILTER_CONTEXT enum uprobe_filter_ctx context,
#else
#define DBK_UPROBE_FILTER_CONTEXT
#endif

struct dbk_uprobe {
	struct uprobe_consumer consumer; /* [C] */
	struct uprobe *handle;		 /* the caller's, where there are handles */
	bool registered;		 /* the caller's */
};

/** dbk_uprobe_register() - at @offset of @inode's file.  Context: may sleep.  Return: 0 or a
 * negative errno */
static inline int dbk_uprobe_register(struct dbk_uprobe *uprobe, struct inode *inode, u64 offset,
				      u64 semaphore)
{
	int err;

#ifdef DBK_HAVE_UPROBE_HANDLE
	uprobe->handle = uprobe_register(inode, offset, semaphore, &uprobe->consumer);
	err = PTR_ERR_OR_ZERO(uprobe->handle);
#else
	err = uprobe_register_refctr(inode, offset, semaphore, &uprobe->consumer);
#endif
	uprobe->registered = !err;
	return err;
}

/** dbk_uprobe_unregister() - handlers may run until dbk_uprobes_synchronize() */
static inline void dbk_uprobe_unregister(struct dbk_uprobe *uprobe, struct inode *inode, u64 offset)
{
#ifdef DBK_HAVE_UPROBE_HANDLE
	uprobe_unregister_nosync(uprobe->handle, &uprobe->consumer);
#else
	uprobe_unregister(inode, offset, &uprobe->consumer);
#endif
	uprobe->registered = false;
}

/** dbk_uprobe_returns_are_full() - in a handler at a function's entry: as many calls of this thread are
 * waited for as the kernel can; the return of this one is not seen.  Probe context */
static __probe_ctx_inline bool dbk_uprobe_returns_are_full(void)
{
	const struct uprobe_task *task = current->utask;

	return task && task->depth >= MAX_URETPROBE_DEPTH;
}

/** dbk_uprobes_synchronize() - no handler of what was unregistered runs any more */
static inline void dbk_uprobes_synchronize(void)
{
#ifdef DBK_HAVE_UPROBE_HANDLE
	uprobe_unregister_sync();
#endif
}

#endif /* DBK_KMOD_UPROBE_H */
