// SPDX-License-Identifier: GPL-2.0-only
/*
 * fbt_table.c - which functions there are to trace
 *
 * Built when a program first names the provider: the kernel's symbols of text,
 * then those of every module.  Whether ftrace can patch one is asked when a
 * program names it: asked of all, that is as much work as reading them is.
 * Resolving names here and handing addresses to ftrace avoids its own name
 * filter, which knows one alias of a function only, and which traces everything
 * when it failed.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "formats/abi/own_path.h"
#include "kmod/kernel/symbols.h"
#include "kmod/providers/fbt.h"

/* Of the kernel's text, at first: Debian's 6.1 has 49500 of 21 bytes on average.  Doubled when
 * they do not do. */
#define KERNEL_SYMBOLS	  65536u
#define KERNEL_NAME_BYTES (KERNEL_SYMBOLS * 24)

/* No site for a symbol: ftrace cannot patch it. */
#define NO_SITE 1ul

static LIST_HEAD(fbt_groups); /* [S] */
static bool table_is_built;   /* [S] */
static bool table_is_listed;  /* [S] all were asked for: modules that come are listed, too */
static bool returns_work;     /* [S] */
static unsigned long (*location_of)(unsigned long address); /* ftrace_location() */
static unsigned long kernel_text_start, kernel_text_end;

static const char *const own_path[] = {
#define DBK_NAME(name) #name,
	DBK_OWN_PATH(DBK_NAME)
#undef DBK_NAME
};

/* Also of a part of it, which the compiler gave a name of its own: orc_find.part.0. */
bool fbt_is_own_path(const char *name)
{
	size_t bytes = strcspn(name, ".");
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(own_path); i++)
		if (strncmp(name, own_path[i], bytes) == 0 && own_path[i][bytes] == '\0')
			return true;
	return false;
}

/* What a group's memory has room for, and what is noted in it. */
struct fill {
	struct fbt_group *group;
	u32 symbols, name_bytes;
	u32 symbols_max, name_bytes_max;
	bool is_counting; /* and notes nothing */
	bool grows;	  /* when it is full: the walk may sleep */
	unsigned long previous; /* address */
};

static bool area_grow(void **area, size_t used, size_t bytes)
{
	void *larger = vzalloc(bytes);

	if (!larger)
		return false;
	if (*area)
		memcpy(larger, *area, used);
	vfree(*area);
	*area = larger;
	return true;
}

/* Makes room for as many symbols and bytes of names. */
static bool fill_grow(struct fill *fill, u32 symbols, u32 name_bytes)
{
	struct fbt_group *group = fill->group;

	if (!area_grow((void **)&group->symbols, fill->symbols * sizeof(*group->symbols),
		       array_size(symbols, sizeof(*group->symbols))) ||
	    !area_grow((void **)&group->names, fill->name_bytes, name_bytes))
		return false;
	fill->symbols_max = symbols;
	fill->name_bytes_max = name_bytes;
	return true;
}

static bool fill_has_room(const struct fill *fill, u32 bytes)
{
	return fill->symbols < fill->symbols_max && bytes <= fill->name_bytes_max - fill->name_bytes;
}

static int fill_symbol(void *data, const char *name, unsigned long address)
{
	struct fill *fill = data;
	u32 bytes = strlen(name) + 1;

	/* What the kernel calls the padding before a function. */
	if (str_has_prefix(name, "__pfx_") || bytes > DBK_PROBE_NAME_BYTES_MAX)
		return 0;
	if (!fill->is_counting) {
		struct fbt_symbol *symbol;

		if (!fill_has_room(fill, bytes) &&
		    !(fill->grows && fill_grow(fill, 2 * fill->symbols_max, 2 * fill->name_bytes_max)))
			return -ENOMEM;
		symbol = &fill->group->symbols[fill->symbols];
		memcpy(fill->group->names + fill->name_bytes, name, bytes);
		symbol->address = address;
		symbol->name = fill->name_bytes;
		symbol->is_alias = address == fill->previous;
	}
	fill->previous = address;
	fill->symbols++;
	fill->name_bytes += bytes;
	return 0;
}

static int fill_kernel_symbol(void *data, const char *name, unsigned long address)
{
	if (address < kernel_text_start)
		return 0;
	return address >= kernel_text_end ? 1 : fill_symbol(data, name, address);
}

/* In one walk, which ends with the text: the kernel has its symbols by address, and unpacks each name. */
static int kernel_fill(struct fill *fill)
{
	fill->grows = true;
	if (!fill_grow(fill, KERNEL_SYMBOLS, KERNEL_NAME_BYTES))
		return -ENOMEM;
	return dbk_symbols_walk(fill_kernel_symbol, fill);
}

/* A module's symbols are not sorted by address: an alias is seen as one where it follows the name that it is of. */
static void module_walk(struct fill *fill)
{
	const struct module *module = fill->group->module;
	const struct mod_kallsyms *symbols;
	u32 i;

	rcu_read_lock_sched();
	symbols = rcu_dereference_sched(module->kallsyms);
	for (i = 0; symbols && i < symbols->num_symtab; i++) {
		const Elf_Sym *symbol = &symbols->symtab[i];
		u8 type = symbols->typetab[i];

		/* Text that stays: the init section's is gone when init has run. */
		if ((type != 't' && type != 'T') || symbol->st_shndx == SHN_UNDEF ||
		    within_module_init(symbol->st_value, module))
			continue;
		if (fill_symbol(fill, symbols->strtab + symbol->st_name, symbol->st_value))
			break;
	}
	rcu_read_unlock_sched();
}

/* Counted in one walk, which may not sleep, and noted in the next. */
static int module_fill(struct fill *fill)
{
	struct fill counted = { .group = fill->group, .is_counting = true };

	module_walk(&counted);
	if (!fill_grow(fill, max(counted.symbols, 1u), max(counted.name_bytes, 1u)))
		return -ENOMEM;
	module_walk(fill);
	return 0;
}

static void group_free(struct fbt_group *group)
{
	vfree(group->symbols);
	vfree(group->names);
	kfree(group);
}

static struct fbt_group *group_create(struct module *module)
{
	struct fbt_group *group = kzalloc(sizeof(*group), GFP_KERNEL);
	struct fill fill = { .group = group };
	int err;

	if (!group)
		return ERR_PTR(-ENOMEM);
	group->module = module;
	err = module ? module_fill(&fill) : kernel_fill(&fill);
	if (err < 0) {
		group_free(group);
		return ERR_PTR(err);
	}
	group->symbol_count = fill.symbols;
	list_add_tail(&group->link, &fbt_groups);
	return group;
}

/* The list of modules and its lock are not exported; without them only later modules are seen. */
static int modules_add(void)
{
	struct list_head *modules = (struct list_head *)dbk_symbol("modules");
	struct mutex *modules_lock = (struct mutex *)dbk_symbol("module_mutex");
	struct module *module;
	int err = 0;

	if (!modules || !modules_lock)
		return 0;
	mutex_lock(modules_lock);
	list_for_each_entry(module, modules, list) {
		if (module == THIS_MODULE || module->state == MODULE_STATE_UNFORMED ||
		    module->state == MODULE_STATE_GOING)
			continue;
		err = PTR_ERR_OR_ZERO(group_create(module));
		if (err)
			break;
	}
	mutex_unlock(modules_lock);
	return err;
}

static struct fbt_probe *probe_at(const struct fbt_group *group, u32 index)
{
	return group->symbols[index / FBT_KINDS].probes[index % FBT_KINDS];
}

static void group_retire(struct fbt_group *group)
{
	u32 count = group->symbol_count * FBT_KINDS;
	struct dbk_retire retire;
	u32 i;

	dbk_retire_begin(&retire, count);
	for (i = 0; i < count; i++)
		if (probe_at(group, i))
			dbk_retire_add(&retire, &probe_at(group, i)->probe);
	dbk_retire_end(&retire);
	fbt_hooks_drop_module(group->module);
	for (i = 0; i < count; i++)
		kfree(probe_at(group, i));
}

static void group_remove(struct fbt_group *group)
{
	/* Of a table that was not built no probe was made, and hooks are those of other providers,
	 * which stay. */
	if (table_is_built)
		group_retire(group);
	list_del(&group->link);
	group_free(group);
}

void fbt_table_free(void)
{
	struct fbt_group *group, *next;

	dbk_state_assert();
	list_for_each_entry_safe(group, next, &fbt_groups, link)
		group_remove(group);
	table_is_built = false;
	table_is_listed = false;
}

/* Whether functions can be hooked at all. */
static bool kernel_known(void)
{
	if (location_of)
		return true;
	kernel_text_start = dbk_symbol("_stext");
	kernel_text_end = dbk_symbol("_etext");
	if (!kernel_text_start || !kernel_text_end)
		return false;
	location_of = dbk_function("ftrace_location");
	returns_work = location_of && fbt_returns_init();
	if (location_of && !returns_work)
		pr_warn("fbt: this kernel does not let functions be followed to their return\n");
	return location_of;
}

/* Where ftrace patches the function; 0: nowhere.  Only what starts there: an address inside of a
 * function is not its entry. */
static unsigned long site_of(unsigned long address)
{
	unsigned long site = location_of(address);

	return site - address > 16 ? 0 : site;
}

static bool symbol_has_site(struct fbt_symbol *symbol, const char *name)
{
	if (symbol->site == 0)
		symbol->site = fbt_is_own_path(name) ? NO_SITE : site_of(symbol->address) ?: NO_SITE;
	return symbol->site != NO_SITE;
}

bool fbt_hook_init(struct fbt_probe *fbt, struct dbk_probe *target, unsigned long address,
		   enum fbt_kind kind, fbt_fire *fire)
{
	dbk_state_assert();
	if (!kernel_known() || (kind == FBT_RETURN && !returns_work))
		return false;
	fbt->site = site_of(address);
	if (fbt->site == 0)
		return false;
	fbt->target = target;
	fbt->fire = fire;
	fbt->address = address;
	fbt->kind = kind;
	INIT_LIST_HEAD(&fbt->pending);
	return true;
}

static int table_build(void)
{
	int err;

	if (table_is_built)
		return 0;
	if (!kernel_known())
		return -ENOENT;
	err = PTR_ERR_OR_ZERO(group_create(NULL));
	if (!err)
		err = modules_add();
	if (err) {
		fbt_table_free();
		return err;
	}
	table_is_built = true;
	return 0;
}

static const u8 argument_words[] = DBK_FUNCTION_ARGUMENT_WORDS;
static const u8 result_words[] = DBK_FUNCTION_RESULT_WORDS;
static const char *const kind_names[FBT_KINDS] = { "entry", "return" };

static int symbol_publish(struct fbt_group *group, struct fbt_symbol *symbol, enum fbt_kind kind)
{
	struct fbt_probe *fbt = kzalloc(sizeof(*fbt), GFP_KERNEL);
	int err;

	if (!fbt)
		return -ENOMEM;
	fbt->target = &fbt->probe;
	fbt->address = symbol->address;
	fbt->site = symbol->site;
	fbt->module = group->module;
	fbt->kind = kind;
	INIT_LIST_HEAD(&fbt->pending);
	fbt->probe.provider = "fbt";
	fbt->probe.module = group->module ? group->module->name : "vmlinux";
	fbt->probe.function = group->names + symbol->name;
	fbt->probe.name = kind_names[kind];
	fbt->probe.host_data = (void *)&dbk_provider_fbt;
	fbt->probe.arg_count = kind == FBT_ENTRY ? sizeof(argument_words) : sizeof(result_words);
	memcpy(fbt->probe.arg_word, kind == FBT_ENTRY ? argument_words : result_words,
	       fbt->probe.arg_count);
	symbol->probes[kind] = fbt;
	err = dbk_probe_add(dbk.engine, &fbt->probe);
	if (err == -EINVAL) {
		symbol->probes[kind] = NULL;
		kfree(fbt);
		return 0;
	}
	return err;
}

/* Whether @pattern says more than one name. */
static bool is_glob(const char *pattern)
{
	return pattern[0] == '\0' || strpbrk(pattern, "*?[") != NULL;
}

/* Makes the symbol's probes that @description names and that are not there. */
static int symbol_provide(struct fbt_group *group, struct fbt_symbol *symbol,
			  const struct dbk_probedesc *description)
{
	enum fbt_kind kind;

	for (kind = 0; kind < FBT_KINDS; kind++) {
		int err = 0;

		if (!symbol->probes[kind] && (kind != FBT_RETURN || returns_work) &&
		    dbk_glob_match(description->name, kind_names[kind]))
			err = symbol_publish(group, symbol, kind);
		if (err)
			return err;
	}
	return 0;
}

static int group_provide(struct fbt_group *group, const struct dbk_requester *requester,
			 const struct dbk_probedesc *description)
{
	bool by_glob = is_glob(description->function);
	u32 i;

	if (!dbk_glob_match(description->module, group->module ? group->module->name : "vmlinux"))
		return 0;
	for (i = 0; i < group->symbol_count; i++) {
		struct fbt_symbol *symbol = &group->symbols[i];
		const char *name = group->names + symbol->name;
		int err = i % 1024 == 0 ? dbk_requester_pause(requester) : 0;

		if (err)
			return err;
		if (by_glob ? symbol->is_alias || !dbk_glob_match(description->function, name)
			    : strcmp(description->function, name) != 0)
			continue;
		if (!symbol_has_site(symbol, name))
			continue;
		err = symbol_provide(group, symbol, description);
		if (err)
			return err;
	}
	return 0;
}

int fbt_table_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
		      const struct dbk_probedesc *description)
{
	struct fbt_group *group;
	int err;

	dbk_state_assert();
	if (!dbk_glob_match(description->name, kind_names[FBT_ENTRY]) &&
	    !dbk_glob_match(description->name, kind_names[FBT_RETURN]))
		return 0;
	err = table_build();
	if (err)
		return err;
	if (description->module[0] == '\0' && description->function[0] == '\0')
		table_is_listed = true;
	list_for_each_entry(group, &fbt_groups, link) {
		err = group_provide(group, requester, description);
		if (err)
			return err;
	}
	return 0;
}

/* What the rings at work named, and is there only now. */
static int group_provide_retained(struct fbt_group *group)
{
	static const struct dbk_probedesc everything = { "fbt", "", "", "", 0 };
	struct dbk_probedesc description;
	struct dbk_ring *ring;
	u32 i;

	int err = 0;

	if (table_is_listed)
		return group_provide(group, NULL, &everything);
	list_for_each_entry(ring, &dbk.rings, link) {
		const struct dbk_program *program = dbk_consumer_program(ring->consumer);

		for (i = 0; !err && dbk_program_probedesc(program, i, &description); i++)
			if (dbk_glob_match(description.provider, "fbt"))
				err = group_provide(group, NULL, &description);
	}
	return err;
}

void fbt_table_add_module(struct module *module)
{
	struct fbt_group *group;
	int err, added;

	dbk_state_assert();
	if (!table_is_built)
		return;
	list_for_each_entry(group, &fbt_groups, link)
		if (group->module == module)
			return;
	group = group_create(module);
	err = PTR_ERR_OR_ZERO(group);
	if (!err) {
		dbk_probe_add_begin(dbk.engine);
		err = group_provide_retained(group);
		added = dbk_probe_add_end(dbk.engine);
		err = err ?: added;
	}
	if (err)
		pr_warn("functions of module %s are missing (error %d)\n", module->name, -err);
}

void fbt_table_remove_module(struct module *module)
{
	struct fbt_group *group;

	dbk_state_assert();
	list_for_each_entry(group, &fbt_groups, link) {
		if (group->module != module)
			continue;
		group_remove(group);
		return;
	}
}
