/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pid.h - what the files of provider pid share
 *
 * A program brings along the places where it wants probes (dof.h, struct dbk_dof_place): its
 * compiler has read the symbols.  pid_table.c makes probes of them for as long as a program that
 * named them is there; pid.c hooks those that are enabled into the kernel.
 */
#ifndef DBK_KMOD_PID_H
#define DBK_KMOD_PID_H

#include <linux/fs.h>
#include <linux/sched/mm.h>

#include "kmod/kernel/uprobe.h"
#include "kmod/providers/places.h"
#include "kmod/providers/provider.h"

struct pid_probe {
	struct dbk_probe probe;
	struct hlist_node link;	   /* [S] in the table */
	u32 users;		   /* [S] programs whose place it is */
	u32 kind;		   /* [C] DBK_PLACE_ */
	u64 offset, semaphore;	   /* [C] */
	struct inode *inode;	   /* [S] held */
	struct mm_struct *mm;	   /* [C] the memory of whom it is for; NULL: everyone's.  Only compared */
	pid_t tgid;		   /* [C] */
	bool enabled;		   /* [S] */
	bool refused;		   /* [S] the kernel does not put a probe there */
	u32 operand_count;	   /* [C] of a mark */
	struct dbk_operand operands[DBK_PLACE_OPERANDS_MAX]; /* [C] */
	struct dbk_uprobe uprobe;
	char names[];		   /* [C] */
};

/** pid_hook() - puts a probe that is enabled into its file.  Context: [S]. */
int pid_hook(struct pid_probe *pid);

/** pid_prepare() - the handlers of a new probe, and its arguments */
void pid_prepare(struct pid_probe *pid);

#endif /* DBK_KMOD_PID_H */
