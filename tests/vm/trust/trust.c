// SPDX-License-Identifier: GPL-2.0-only
/*
 * trust.c - makes a test kernel trust a certificate, as firmware and shim would have at its boot
 *
 *   insmod trust.ko certificate=FILE.der keyring=secondary_trusted_keys
 *   insmod trust.ko certificate=FILE.der keyring=platform_trusted_keys
 */
#include <linux/key.h>
#include <linux/kernel_read_file.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

static char *certificate = "", *keyring = "";
module_param(certificate, charp, 0);
MODULE_PARM_DESC(certificate, "a file, DER");
module_param(keyring, charp, 0);
MODULE_PARM_DESC(keyring, "the kernel's variable of it");

#define CERTIFICATE_BYTES_MAX 65536

static struct key *keyring_find(void)
{
	struct kprobe kprobe = { .symbol_name = "kallsyms_lookup_name", .flags = KPROBE_FLAG_DISABLED };
	unsigned long (*lookup_name)(const char *name);
	struct key **variable = NULL;

	if (register_kprobe(&kprobe))
		return NULL;
	/* Functions are aligned to 16; with IBT the kprobe sits after an endbr. */
	lookup_name = (void *)((unsigned long)kprobe.addr & ~15ul);
	unregister_kprobe(&kprobe);
	variable = (void *)lookup_name(keyring);
	return variable ? *variable : NULL;
}

static int __init trust_init(void)
{
	struct key *trusted = keyring_find();
	void *der = NULL;
	key_ref_t made;
	ssize_t bytes;

	if (!trusted)
		return -ENOENT;
	bytes = kernel_read_file_from_path(certificate, 0, &der, CERTIFICATE_BYTES_MAX, NULL,
					   READING_X509_CERTIFICATE);
	if (bytes < 0)
		return bytes;
	made = key_create_or_update(make_key_ref(trusted, true), "asymmetric", NULL, der, bytes,
				    KEY_POS_ALL | KEY_USR_VIEW | KEY_USR_READ,
				    KEY_ALLOC_NOT_IN_QUOTA | KEY_ALLOC_BUILT_IN |
					    KEY_ALLOC_BYPASS_RESTRICTION);
	vfree(der);
	if (IS_ERR(made))
		return PTR_ERR(made);
	key_ref_put(made);
	return 0;
}

static void __exit trust_exit(void)
{
}

module_init(trust_init);
module_exit(trust_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a test kernel trusts a certificate");
