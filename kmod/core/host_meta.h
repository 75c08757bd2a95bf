/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * host_meta.h - the metadata block that says which machine and boot this is
 */
#ifndef DBK_KMOD_HOST_META_H
#define DBK_KMOD_HOST_META_H

/** dbk_boot_id_init() - fills dbk.boot_uuid and dbk.boot_id; before anything that carries them */
void dbk_boot_id_init(void);

/** dbk_host_meta_create() - fills the HOST block.  Return: 0 or -ENOMEM. */
int dbk_host_meta_create(void);

/** dbk_host_meta_destroy() - gives the block back */
void dbk_host_meta_destroy(void);

#endif /* DBK_KMOD_HOST_META_H */
