// SPDX-License-Identifier: GPL-2.0-only
/*
 * host_meta.c - the metadata block that says which machine and boot this is
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/utsname.h>
#include <linux/uuid.h>

#include "kmod/core/host_meta.h"
#include "kmod/core/symbols.h"
#include "kmod/state.h"

/*
 * The boot id of /proc/sys/kernel/random/boot_id, so that records and logs of one
 * boot can be told to belong together.  The kernel makes it when it is first
 * read; before /proc is mounted nobody has, and it is made here, as it does:
 * byte 8 is never 0 once it is made.
 */
static void boot_uuid_get(u8 uuid_ret[UUID_SIZE])
{
	u8 *kernels = (u8 *)dbk_symbol("sysctl_bootid");

	if (!kernels) {
		generate_random_uuid(uuid_ret);
		return;
	}
	if (READ_ONCE(kernels[8]) == 0) {
		generate_random_uuid(uuid_ret);
		memcpy(kernels, uuid_ret, UUID_SIZE);
	}
	memcpy(uuid_ret, kernels, UUID_SIZE);
}

void dbk_boot_id_init(void)
{
	__le64 first;

	boot_uuid_get(dbk.boot_uuid);
	memcpy(&first, dbk.boot_uuid, sizeof(first));
	dbk.boot_id = le64_to_cpu(first);
}

int dbk_host_meta_create(void)
{
	struct dbk_meta_host host = {
		.kernel_text_start = dbk_symbol("_stext"),
		.cpu_count = nr_cpu_ids,
		.page_bytes = PAGE_SIZE,
	};

	memcpy(host.boot_uuid, dbk.boot_uuid, sizeof(host.boot_uuid));
	strscpy(host.release, init_utsname()->release, sizeof(host.release));
	strscpy(host.version, init_utsname()->version, sizeof(host.version));
	strscpy(host.machine, init_utsname()->machine, sizeof(host.machine));
	strscpy(host.module_version, THIS_MODULE->version ?: "", sizeof(host.module_version));
	if (!dbk_host_pages_alloc(PAGE_SIZE, &dbk.blocks[DBK_BLOCK_HOST]))
		return -ENOMEM;
	dbk_meta_block_init(&dbk.blocks[DBK_BLOCK_HOST], DBK_META_HOST, dbk.boot_id, 0);
	dbk_meta_block_append(&dbk.blocks[DBK_BLOCK_HOST], &host, sizeof(host));
	return 0;
}

void dbk_host_meta_destroy(void)
{
	dbk_host_pages_free(&dbk.blocks[DBK_BLOCK_HOST]);
}
