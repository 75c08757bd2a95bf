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
#include <linux/magic.h>
#include <linux/sched/mm.h>

#include "kmod/kernel/uprobe.h"
#include "kmod/providers/places.h"
#include "kmod/providers/provider.h"

struct pid_file;
struct pid_probe;

/* Bytes by which a file is known: its build id, or code. */
struct pid_bytes {
	u64 at;	   /* offset in the file */
	u32 count; /* 0: any */
	u8 bytes[DBK_PLACE_BUILD_ID_MAX];
};

/* A name that probes share: thousands of functions are of one file, whose path it may be. */
struct pid_name {
	u32 users; /* [S] */
	char text[];
};

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
	struct pid_bytes code;	   /* [C] at the place, of a file without a build id */
	struct list_head hooks;	   /* [F] one; by path in each copy of the file */
	struct pid_hook first;	   /* of a process's file, which is */
	struct file *file;	   /* [C] held: what has it cannot be unmounted */
	struct pid_file *by_path;  /* [C] NULL: of a process */
	struct list_head file_link; /* [F] of the probes of that */
	struct mm_struct *mm;	   /* [C] the memory of whom it is for; NULL: everyone's.  Only compared */
	pid_t tgid;		   /* [C] */
	bool enabled;		   /* [F] */
	bool is_inside;		   /* [F] of an instruction, in the file that is at its path */
	u32 operand_count;	   /* [C] of a mark */
	struct dbk_operand operands[DBK_PLACE_OPERANDS_MAX]; /* [C] */
	struct pid_name *provider, *module; /* [C] */
	char names[];		   /* [C] of the function and its probe */
};

/** pid_hook() - puts a probe that is enabled into a file.  Context: [F]. */
int pid_hook(struct pid_hook *hook);

/** pid_bytes_of() - those that @place was compiled with */
struct pid_bytes pid_bytes_of(const struct dbk_place *place);

/** pid_is_of_fuse() - whether the file's server is a process, which may never answer */
static inline bool pid_is_of_fuse(const struct file *file)
{
	return d_real_inode(file->f_path.dentry)->i_sb->s_magic == FUSE_SUPER_MAGIC;
}

/** pid_bytes_are_there() - whether a file has them.  May sleep. */
bool pid_bytes_are_there(struct file *file, const struct pid_bytes *bytes);

/** pid_is_known_by_code() - whether the bytes are code at the place: any file of that path is one, and
 * each place of it is looked at. */
bool pid_is_known_by_code(const struct dbk_place *place);

/** pid_instruction_is_there() - whether what is an instruction of the function begins one.  May sleep.
 * @kind, @function_at, @offset: a place's */
bool pid_instruction_is_there(struct file *file, u32 kind, u64 function_at, u64 offset);

/** pid_prepare() - the handlers of a new probe, and its arguments */
void pid_prepare(struct pid_probe *pid);

#endif /* DBK_KMOD_PID_H */
