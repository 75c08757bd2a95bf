// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols.c - names of the kernel that are not exported
 *
 * kallsyms_lookup_name() is not exported, but a kprobe resolves a name: one is
 * registered there and taken away again, and the function asked from then on.
 * It is never armed: taking what is armed away needs memory, and where there is
 * none the kernel warns and goes on to use the kprobe.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include "arch/callable.h"
#include "engine/api/host.h"
#include "kmod/kernel/symbols.h"

/* 16: functions are aligned to it; a kprobe of one may sit a few bytes after its beginning. */
#define FUNCTION_ALIGN_BYTES 16ul

#ifdef DBK_HAVE_KALLSYMS_CB_MODULE
typedef int (*walk_callback)(void *data, const char *name, struct module *module,
			     unsigned long address);
#else
typedef int (*walk_callback)(void *data, const char *name, unsigned long address);
#endif

/* Exported, for what rcutorture does; their header is not among those that a module has. */
#ifdef CONFIG_TINY_RCU
static inline void rcu_expedite_gp(void)
{
}
static inline void rcu_unexpedite_gp(void)
{
}
#else
void rcu_expedite_gp(void);
void rcu_unexpedite_gp(void);
#endif

static unsigned long (*lookup_name)(const char *name);
static int (*lookup_size_offset)(unsigned long address, unsigned long *size, unsigned long *offset);
static int (*on_each_symbol)(walk_callback each, void *data);

int dbk_symbols_init(void)
{
	struct kprobe kprobe = {
		.symbol_name = "kallsyms_lookup_name",
		.flags = KPROBE_FLAG_DISABLED,
	};
	int err = register_kprobe(&kprobe);

	if (err)
		return err;
	lookup_name = dbk_callable((unsigned long)kprobe.addr & ~(FUNCTION_ALIGN_BYTES - 1));
	/* It waits for a grace period, 8 ms of a boot that nothing else could use. */
	rcu_expedite_gp();
	unregister_kprobe(&kprobe);
	rcu_unexpedite_gp();
	lookup_size_offset = dbk_function("kallsyms_lookup_size_offset");
	on_each_symbol = dbk_function("kallsyms_on_each_symbol");
	return 0;
}

unsigned long dbk_symbol(const char *name)
{
	return lookup_name ? lookup_name(name) : 0;
}

void *dbk_function(const char *name)
{
	return dbk_callable(dbk_symbol(name));
}

/*
 * kallsyms knows "module:symbol" for what is not the kernel's own.  It finds
 * variables too, where the kernel was built with all symbols (Debian's is).
 */
uint64_t dbk_host_symbol(const char *name)
{
	char scoped[DBK_SYMBOL_BYTES_MAX + 1];
	char *backquote;

	if (strscpy(scoped, name, sizeof(scoped)) < 0)
		return 0;
	backquote = strchr(scoped, '`');
	if (!backquote)
		return dbk_symbol(scoped);
	*backquote = '\0';
	if (backquote == scoped || !strcmp(scoped, "vmlinux") || !strcmp(scoped, "kernel"))
		return dbk_symbol(backquote + 1);
	*backquote = ':';
	return dbk_symbol(scoped);
}

unsigned long dbk_symbol_bytes(unsigned long address)
{
	unsigned long bytes, offset;

	if (!lookup_size_offset || !lookup_size_offset(address, &bytes, &offset))
		return 0;
	return bytes - offset;
}

struct walk {
	int (*each)(void *data, const char *name, unsigned long address);
	void *data;
};

#ifdef DBK_HAVE_KALLSYMS_CB_MODULE
static int walk_each(void *data, const char *name, struct module *module, unsigned long address)
#else
static int walk_each(void *data, const char *name, unsigned long address)
#endif
{
	struct walk *walk = data;

	return walk->each(walk->data, name, address);
}

int dbk_symbols_walk(int (*each)(void *data, const char *name, unsigned long address), void *data)
{
	struct walk walk = { .each = each, .data = data };

	return on_each_symbol ? on_each_symbol(walk_each, &walk) : -ENOENT;
}
