/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pid_files.h - files that programs name by path: "pid*:/usr/lib/systemd/systemd:main:entry"
 *
 * Theory.  Such a file may not be there yet, and there may be several of it: an initramfs has its
 * own, and a container.  What makes them one is the name without the folder and the build id that
 * the program was compiled for; without a build id the path, and for each probe the code at its
 * place.  Each that is found is a copy, and a
 * probe has a hook in each.
 *
 *   a process maps code --ftrace: perf_event_mmap()--> is its file called so?  (mmap_lock is held)
 *        '-- before it is back in user space --task_work--> is it that build?  a copy: hooks
 *
 * So the probes are armed before the process has executed anything of the file.  What lives already when a
 * program comes is looked at once, when the hook is there: what it has mapped is asked the same.
 */
#ifndef DBK_KMOD_PID_FILES_H
#define DBK_KMOD_PID_FILES_H

#include "kmod/providers/pid.h"

struct pid_file;

/**
 * pid_file_get() - the file that @place names by its path
 * @at_path: its first copy, which is open; NULL: there is none
 *
 * Context: [S].  Return: 0; -ENOMEM, or why mappings cannot be seen.
 */
int pid_file_get(const struct dbk_place *place, struct file *at_path, struct pid_file **file_ret);

/**
 * pid_files_look() - what processes that live have mapped of files that are new since the last time gets hooks as
 * what they map later does
 *
 * Context: [S]; may sleep.  Return: 0; -EINTR: @requester is being killed.
 */
int pid_files_look(const struct dbk_requester *requester);

/** pid_file_put() - no probe of it is enabled.  Context: [S]. */
void pid_file_put(struct pid_file *file);

/** pid_file_add() - @pid gets a hook in each copy.  Context: [S]. */
void pid_file_add(struct pid_file *file, struct pid_probe *pid);

/** pid_file_remove() - @pid, which is disabled, has none any more.  Context: [S]. */
void pid_file_remove(struct pid_probe *pid);

/** pid_files_exit() - before the module goes; no file is left.  Context: [S]. */
void pid_files_exit(void);

#endif /* DBK_KMOD_PID_FILES_H */
