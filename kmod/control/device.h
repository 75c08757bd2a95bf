/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device.h - /dev/daybreak
 */
#ifndef DBK_KMOD_DEVICE_H
#define DBK_KMOD_DEVICE_H

#include <linux/mm_types.h>

struct file;

/** dbk_device_register() - the device appears in devtmpfs, mounted or not yet.  Not under [S]. */
int dbk_device_register(void);

/** dbk_device_unregister() - it goes; no process has it open, or the module could not be unloaded */
void dbk_device_unregister(void);

/** dbk_device_mmap() - the mmap() of the device, mmap.c */
int dbk_device_mmap(struct file *file, struct vm_area_struct *vma);

#endif /* DBK_KMOD_DEVICE_H */
