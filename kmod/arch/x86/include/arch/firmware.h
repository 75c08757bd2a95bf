/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * firmware.h - what the firmware says is memory
 */
#ifndef DBK_KMOD_ARCH_FIRMWARE_H
#define DBK_KMOD_ARCH_FIRMWARE_H

#include <linux/types.h>
#include <asm/e820/api.h>

/** dbk_range_is_kernels() - whether the kernel has some of it as its memory */
static inline bool dbk_range_is_kernels(u64 start, u64 end)
{
	return e820__mapped_any(start, end, E820_TYPE_RAM);
}

/** dbk_memory_is_firmwares() - whether the firmware calls some of it memory */
static inline bool dbk_memory_is_firmwares(u64 start, u64 end)
{
	return e820__mapped_raw_any(start, end, E820_TYPE_RAM);
}

#endif /* DBK_KMOD_ARCH_FIRMWARE_H */
