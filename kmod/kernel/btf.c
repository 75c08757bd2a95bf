// SPDX-License-Identifier: GPL-2.0-only
/*
 * btf.c - how many arguments a tracepoint has, and how wide they are
 *
 * A tracepoint hands its arguments over in registers; of an int the upper half
 * is whatever was there.  The kernel's BTF has a typedef btf_trace_NAME of a
 * pointer to each tracepoint's prototype.  One index of the kernel's types is
 * built when first needed; a module's BTF continues the kernel's numbering.  Where structs of no header have a
 * member, it says as well.
 */
#include <linux/btf.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "kmod/kernel/symbols.h"

#ifdef CONFIG_DEBUG_INFO_BTF

#define TYPEDEF_PREFIX "btf_trace_"
/* 32: typedefs of typedefs of const; a bound for a circle. */
#define CHAIN_MAX 32
/* Debian's 6.12 has 772 in its BTF. */
#define TRACES_AT_ONCE 1024
/* 16 MiB: the largest module of a distribution has less than one. */
#define MODULE_BTF_BYTES_MAX (16u << 20)

/* The bytes of one BTF section, and where its types are. */
struct btf_view {
	const struct btf_header *header;
	const char *strings;
	u32 string_bytes;
	u32 string_base; /* offsets below belong to the kernel's strings */
	u32 type_base;	 /* ids below belong to the kernel */
	u32 type_count;
	u32 *type_at; /* by id - type_base: offset from the types' start */
	u32 trace_count;
	u32 *traces; /* offsets of the typedefs of tracepoints' prototypes */
};

static struct btf_view kernel_btf; /* [S] */

/* What follows a struct btf_type, by kind: so much, and so much for each of its parts. */
static const struct {
	u8 fixed, each;
} tails[1 << 5] = {
	[BTF_KIND_INT] = { .fixed = sizeof(u32) },
	[BTF_KIND_ARRAY] = { .fixed = sizeof(struct btf_array) },
	[BTF_KIND_STRUCT] = { .each = sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { .each = sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { .each = sizeof(struct btf_enum) },
	[BTF_KIND_ENUM64] = { .each = sizeof(struct btf_enum64) },
	[BTF_KIND_FUNC_PROTO] = { .each = sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { .fixed = sizeof(struct btf_var) },
	[BTF_KIND_DATASEC] = { .each = sizeof(struct btf_var_secinfo) },
	[BTF_KIND_DECL_TAG] = { .fixed = sizeof(struct btf_decl_tag) },
};

static u32 type_bytes(u32 info)
{
	u32 kind = BTF_INFO_KIND(info);

	return sizeof(struct btf_type) + tails[kind].fixed + BTF_INFO_VLEN(info) * tails[kind].each;
}

static const void *types_of(const struct btf_view *view)
{
	return (const void *)view->header + view->header->hdr_len + view->header->type_off;
}

static const char *string_at(const struct btf_view *view, u32 offset)
{
	if (offset < view->string_base)
		view = &kernel_btf;
	offset -= view->string_base;
	return offset < view->string_bytes ? view->strings + offset : "";
}

static bool is_trace(const struct btf_view *view, const struct btf_type *type)
{
	return strncmp(string_at(view, type->name_off), TYPEDEF_PREFIX, strlen(TYPEDEF_PREFIX)) == 0;
}

static bool trace_note(struct btf_view *view, u32 at)
{
	if (view->trace_count % TRACES_AT_ONCE == 0) {
		u32 *more = vmalloc(array_size(view->trace_count + TRACES_AT_ONCE, sizeof(u32)));

		if (!more)
			return false;
		if (view->traces)
			memcpy(more, view->traces, view->trace_count * sizeof(u32));
		vfree(view->traces);
		view->traces = more;
	}
	view->traces[view->trace_count++] = at;
	return true;
}

/* Notes where every type is, and which are typedefs named btf_trace_...  Debian's 6.12 has 113 000 types. */
static bool types_index(struct btf_view *view)
{
	const void *types = types_of(view);
	u32 *type_at = view->type_at;
	u32 last = view->header->type_len - sizeof(struct btf_type);
	u32 at = 0;

	while (at <= last) {
		const struct btf_type *type = types + at;

		*type_at++ = at;
		if (BTF_INFO_KIND(type->info) == BTF_KIND_TYPEDEF && is_trace(view, type) && !trace_note(view, at))
			return false;
		at += type_bytes(type->info);
	}
	view->type_count = type_at - view->type_at;
	return true;
}

static void view_close(struct btf_view *view)
{
	vfree(view->type_at);
	vfree(view->traces);
	view->type_at = NULL;
	view->traces = NULL;
}

static bool view_open(struct btf_view *view, const void *data, u32 bytes,
		      const struct btf_view *base)
{
	const struct btf_header *header = data;

	*view = (struct btf_view){ .header = header, .type_base = 1 };
	if (!data || bytes < sizeof(*header) || header->magic != BTF_MAGIC ||
	    header->type_len < sizeof(struct btf_type) ||
	    (u64)header->hdr_len + header->type_off + header->type_len > bytes ||
	    (u64)header->hdr_len + header->str_off + header->str_len > bytes)
		return false;
	view->strings = data + header->hdr_len + header->str_off;
	view->string_bytes = header->str_len;
	if (base) {
		view->string_base = base->string_bytes;
		view->type_base = base->type_base + base->type_count;
	}
	/* As many as there can be: counting them takes as long as noting them. */
	view->type_at = vmalloc(array_size(header->type_len / sizeof(struct btf_type) + 1, sizeof(u32)));
	if (!view->type_at)
		return false;
	if (types_index(view))
		return true;
	view_close(view);
	return false;
}

static const struct btf_type *type_by_id(const struct btf_view *view, u32 id)
{
	if (id < view->type_base)
		view = &kernel_btf;
	if (id < view->type_base || id - view->type_base >= view->type_count)
		return NULL;
	return types_of(view) + view->type_at[id - view->type_base];
}

/* Through typedefs and qualifiers to what it is. */
static const struct btf_type *type_resolve(const struct btf_view *view, u32 id)
{
	unsigned int i;

	for (i = 0; i < CHAIN_MAX; i++) {
		const struct btf_type *type = type_by_id(view, id);

		if (!type)
			return NULL;
		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = type->type;
			break;
		default:
			return type;
		}
	}
	return NULL;
}

static void argument_describe(const struct btf_type *type, unsigned int index,
			      struct dbk_tracepoint_args *args)
{
	u32 kind = type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN;
	u32 bytes = sizeof(u64);
	bool is_signed = false;

	if (kind == BTF_KIND_INT) {
		u32 encoding = BTF_INT_ENCODING(*(const u32 *)(type + 1));

		bytes = type->size;
		is_signed = encoding & BTF_INT_SIGNED;
	} else if (kind == BTF_KIND_ENUM || kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION) {
		bytes = type->size;
		is_signed = kind == BTF_KIND_ENUM && BTF_INFO_KFLAG(type->info);
	}
	if (bytes == 0 || bytes >= sizeof(u64))
		return;
	args->shift[index] = 64 - bytes * 8;
	args->narrow = true;
	if (is_signed)
		args->is_signed |= 1u << index;
}

static bool prototype_describe(const struct btf_view *view, const struct btf_type *alias,
			       struct dbk_tracepoint_args *args_ret)
{
	const struct btf_type *pointer = type_resolve(view, alias->type);
	const struct btf_type *prototype;
	const struct btf_param *params;
	u32 count, i;

	if (!pointer || BTF_INFO_KIND(pointer->info) != BTF_KIND_PTR)
		return false;
	prototype = type_resolve(view, pointer->type);
	if (!prototype || BTF_INFO_KIND(prototype->info) != BTF_KIND_FUNC_PROTO)
		return false;
	params = (const void *)(prototype + 1);
	count = BTF_INFO_VLEN(prototype->info);
	if (count == 0)
		return false;
	*args_ret = (struct dbk_tracepoint_args){ .count = count - 1 };
	/* The first is the probe's own data. */
	for (i = 1; i < count && i <= DBK_TRACEPOINT_ARGS_MAX; i++)
		argument_describe(type_resolve(view, params[i].type), i - 1, args_ret);
	return true;
}

static bool view_find(const struct btf_view *view, const char *name,
		      struct dbk_tracepoint_args *args_ret)
{
	u32 i;

	for (i = 0; i < view->trace_count; i++) {
		const struct btf_type *type = types_of(view) + view->traces[i];
		const char *type_name = string_at(view, type->name_off);

		if (strcmp(type_name + strlen(TYPEDEF_PREFIX), name) == 0)
			return prototype_describe(view, type, args_ret);
	}
	return false;
}

static bool kernel_btf_open(void)
{
	unsigned long start, stop;

	if (kernel_btf.type_at)
		return true;
	start = dbk_symbol("__start_BTF");
	stop = dbk_symbol("__stop_BTF");
	if (!start || stop <= start)
		return false;
	return view_open(&kernel_btf, (const void *)start, stop - start, NULL);
}

/* The module that was asked about last, and what was read for it. */
static struct {
	const struct module *module;
	struct btf_view view;
	void *read;
} last; /* [S] */

static void last_close(void)
{
	if (last.module)
		view_close(&last.view);
	vfree(last.read);
	last.module = NULL;
	last.read = NULL;
}

#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
/* Bytes read, or a negative errno; @data_ret is the caller's to vfree() either way. */
static ssize_t module_file_read(const struct module *module, void **data_ret)
{
	char path[MODULE_NAME_LEN + 32];
	ssize_t bytes = -ENOMEM;
	struct file *file;
	loff_t at = 0;
	u64 size;

	scnprintf(path, sizeof(path), "/sys/kernel/btf/%s", module->name);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	size = min_t(u64, i_size_read(file_inode(file)), MODULE_BTF_BYTES_MAX);
	*data_ret = vmalloc(max_t(u64, size, 1));
	/* sysfs gives a page at a time. */
	if (*data_ret) {
		do
			bytes = kernel_read(file, *data_ret + at, size - at, &at);
		while (bytes > 0 && at < size);
	}
	filp_close(file, NULL);
	return bytes < 0 ? bytes : at;
}
#endif

/*
 * A module has its BTF itself only until its init runs, and the pointer dangles from then to init's end; the kernel has a
 * copy, in a file of sysfs.
 */
static const struct btf_view *module_view(const struct module *module, bool is_coming)
{
#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
	const void *data = is_coming ? module->btf_data : NULL;
	ssize_t bytes = data ? module->btf_data_size : 0;

	if (last.module == module)
		return &last.view;
	last_close();
	if (!data) {
		bytes = module_file_read(module, &last.read);
		data = last.read;
	}
	if (bytes > 0 && view_open(&last.view, data, bytes, &kernel_btf)) {
		last.module = module;
		return &last.view;
	}
#endif
	return NULL;
}

bool dbk_btf_tracepoint(const struct module *module, bool is_coming, const char *name,
			struct dbk_tracepoint_args *args_ret)
{
	const struct btf_view *view = &kernel_btf;

	if (!kernel_btf_open())
		return false;
	if (module)
		view = module_view(module, is_coming);
	return view && view_find(view, name, args_ret);
}

static int member_find(const struct btf_view *view, const struct btf_type *type, const char *member)
{
	const struct btf_member *members = (const void *)(type + 1);
	u32 i;

	for (i = 0; i < BTF_INFO_VLEN(type->info); i++) {
		u32 bits = BTF_INFO_KFLAG(type->info) ? BTF_MEMBER_BIT_OFFSET(members[i].offset) : members[i].offset;

		if (bits % 8 == 0 && strcmp(string_at(view, members[i].name_off), member) == 0)
			return bits / 8;
	}
	return -ENOENT;
}

int dbk_btf_member(const char *of, const char *member)
{
	const struct btf_view *view = &kernel_btf;
	int offset = -ENOENT;
	u32 i;

	if (!kernel_btf_open())
		return -ENOENT;
	for (i = 0; i < view->type_count && offset < 0; i++) {
		const struct btf_type *type = types_of(view) + view->type_at[i];

		if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT && strcmp(string_at(view, type->name_off), of) == 0)
			offset = member_find(view, type, member);
	}
	return offset;
}

void dbk_btf_release(void)
{
	last_close();
	view_close(&kernel_btf);
}

#else

bool dbk_btf_tracepoint(const struct module *module, bool is_coming, const char *name,
			struct dbk_tracepoint_args *args_ret)
{
	return false;
}

int dbk_btf_member(const char *of, const char *member)
{
	return -ENOENT;
}

void dbk_btf_release(void)
{
}

#endif
