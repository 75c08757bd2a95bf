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

struct pid_file;
struct pid_probe;

/* [F] hooks of all probes, and what files by path have; under [S], or in a process that has mapped a
 * file.  The kernel's locks for uprobes are taken under it. */
extern struct mutex pid_mutex;

/* A probe in one file. */
struct pid_hook {
	struct list_head link; /* [F] of the probe's */
	struct pid_probe *pid; /* [C] */
	struct inode *inode;   /* [C] of a file that is held */
	bool refused;	       /* [F] the kernel does not put a probe there */
	struct dbk_uprobe uprobe; /* [F] */
};

struct pid_probe {
	struct dbk_probe probe;
	struct hlist_node link;	   /* [S] in the table */
	u32 users;		   /* [S] programs whose place it is */
	u32 kind;		   /* [C] DBK_PLACE_ */
	u64 offset, semaphore;	   /* [C] */
	u64 function_at;	   /* [C] of an instruction */
	struct list_head hooks;	   /* [F] one; by path in each copy of the file */
	struct pid_hook first;	   /* of a process's file, which is */
	struct file *file;	   /* [C] held: what has it cannot be unmounted */
	struct pid_file *by_path;  /* [C] NULL: of a process */
	struct list_head file_link; /* [F] of the probes of that */
	struct mm_struct *mm;	   /* [C] the memory of whom it is for; NULL: everyone's.  Only compared */
	pid_t tgid;		   /* [C] */
	bool enabled;		   /* [F] */
	u32 operand_count;	   /* [C] of a mark */
	struct dbk_operand operands[DBK_PLACE_OPERANDS_MAX]; /* [C] */
	char names[];		   /* [C] */
};

/** pid_hook() - puts a probe that is enabled into a file.  Context: [F]. */
int pid_hook(struct pid_hook *hook);

/** pid_instruction_is_there() - whether what is an instruction of a function begins one.  May sleep. */
bool pid_instruction_is_there(struct file *file, const struct pid_probe *pid);

/** pid_prepare() - the handlers of a new probe, and its arguments */
void pid_prepare(struct pid_probe *pid);

#endif /* DBK_KMOD_PID_H */
