// SPDX-License-Identifier: GPL-2.0-only
/*
 * host_meta.c - the metadata block that says which machine and boot this is
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sysctl.h>
#include <linux/utsname.h>
#include <linux/uuid.h>

#include "kmod/core/host_meta.h"
#include "kmod/kernel/symbols.h"
#include "kmod/state.h"

/*
 * The boot id of /proc/sys/kernel/random/boot_id, so that records and logs of one
 * boot can be seen to belong together.  The kernel makes it when it is first
 * read, under a lock that it has for itself; /proc need not be mounted yet, so its
 * handler is called.  Without it the id is our own.
 */
static void boot_uuid_get(u8 uuid_ret[UUID_SIZE])
{
	proc_handler *read = dbk_function("proc_do_uuid");
	struct ctl_table entry = { .data = (void *)dbk_symbol("sysctl_bootid") };
	char text[UUID_STRING_LEN + 2]; /* its newline, and a NUL */
	size_t bytes = UUID_STRING_LEN + 1;
	loff_t at = 0;

	if (!read || !entry.data || read(&entry, 0, text, &bytes, &at) != 0 ||
	    bytes < UUID_STRING_LEN || uuid_parse(text, (uuid_t *)uuid_ret) != 0)
		generate_random_uuid(uuid_ret);
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
	if (!dbk_host_pages_alloc(PAGE_SIZE, DBK_PAGES_ANYWHERE, DBK_CPU_NONE, &dbk.blocks[DBK_BLOCK_HOST]))
		return -ENOMEM;
	dbk_meta_block_init(&dbk.blocks[DBK_BLOCK_HOST], DBK_META_HOST, dbk.boot_id, 0);
	dbk_meta_block_append(&dbk.blocks[DBK_BLOCK_HOST], &host, sizeof(host));
	return 0;
}

void dbk_host_meta_destroy(void)
{
	dbk_host_pages_free(&dbk.blocks[DBK_BLOCK_HOST]);
}
