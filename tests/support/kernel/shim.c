// SPDX-License-Identifier: Apache-2.0
/*
 * shim.c - the few functions of Linux that the module's pure logic calls; see shim.h
 */
#include "tests/support/kernel/shim.h"

struct shim shim;
struct module shim_module = { .version = "test" };
struct shim_chain panic_notifier_list;
static struct shim_task task = { "tester", 100 };
struct shim_task *current = &task;
int oops_in_progress;
unsigned int nr_cpu_ids = 2;

void shim_log(const char *format, ...)
{
	size_t used = strlen(shim.log);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(shim.log + used, sizeof(shim.log) - used, format, arguments);
	va_end(arguments);
}

void strscpy(char *to, const char *from, size_t bytes)
{
	size_t length = strnlen(from, bytes - 1);

	memmove(to, from, length);
	to[length] = '\0';
}

u64 memparse(const char *text, char **end_ret)
{
	u64 value = strtoull(text, end_ret, 0);
	const char *units = "KMGT", *unit = **end_ret ? strchr(units, toupper(**end_ret)) : NULL;

	if (!unit)
		return value;
	(*end_ret)++;
	return value << 10 * (unit - units + 1);
}

const struct shim_utsname *init_utsname(void)
{
	static const struct shim_utsname name = { "6.1.0-test" };

	return &name;
}

void *memremap(u64 address, u64 bytes, int flags)
{
	(void)flags;
	if (address < shim.memory_address || address + bytes > shim.memory_address + shim.memory_bytes)
		return NULL;
	return shim.memory + (address - shim.memory_address);
}

int remap_pfn_range(struct vm_area_struct *vma, unsigned long start, u64 pfn, u64 bytes, int prot)
{
	(void)vma, (void)start, (void)bytes, (void)prot;
	shim.mapped_count++;
	shim.mapped_address = pfn << PAGE_SHIFT;
	return 0;
}

/* A long for each bit. */
unsigned long *bitmap_zalloc(unsigned int bits, int flags)
{
	(void)flags;
	return calloc(bits, sizeof(unsigned long));
}

void bitmap_free(unsigned long *map)
{
	free(map);
}

void bitmap_set(unsigned long *map, unsigned int start, unsigned int count)
{
	while (count--)
		map[start++] = 1;
}

void bitmap_clear(unsigned long *map, unsigned int start, unsigned int count)
{
	while (count--)
		map[start++] = 0;
}

unsigned long bitmap_find_next_zero_area(unsigned long *map, unsigned long size, unsigned long start,
					 unsigned int count, unsigned long align)
{
	unsigned long at, i;

	(void)align;
	for (at = start; at + count <= size; at++) {
		for (i = 0; i < count && !map[at + i]; i++)
			;
		if (i == count)
			return at;
	}
	return size;
}
