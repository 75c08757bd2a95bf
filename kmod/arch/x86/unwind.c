// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind.c - hands the kernel the module's unwind tables, sorted
 *
 * The kernel sorts the rows of .orc_unwind by address when it loads a module, by a heap sort: 7
 * million instructions for ours, whatever their order (docs/design/0088-a-module-that-waits.md).
 * But the linker leaves them as few sorted series: of .text, of .text.dbk_probe.  So arch.sh
 * gives the tables other names, under which the kernel leaves them alone, and this does what its
 * unwind_module_init() does.
 */
#include <linux/module.h>

#include "arch/unwind.h"

#ifdef CONFIG_UNWINDER_ORC
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/vmalloc.h>
#include <asm/orc_types.h>

/* 8: five sections have code. With more series each row is moved to its place one by one. */
#define SERIES_MAX 8
#define NO_ROW	   UINT_MAX

struct row {
	unsigned long address;
	unsigned int next; /* in its series; NO_ROW: none */
	struct orc_entry entry;
};

struct series {
	unsigned int first, last;
};

/* By the linker script of arch.sh.  Weak: kbuild's own link, from which that begins, has none of
 * them. */
extern int dbk_orc_ip_start[] __weak;
extern int dbk_orc_ip_end[] __weak;
extern struct orc_entry dbk_orc_start[] __weak;

/* Of two rows of one address the one that ends a section comes first: the kernel takes the last. */
static bool __init belongs_after(const struct row *row, const struct row *other)
{
	return row->address > other->address ||
	       (row->address == other->address && row->entry.sp_reg != ORC_REG_UNDEFINED);
}

/* A row's address is kept relative to where it is kept. */
static void __init row_load(unsigned int at, struct row *row_ret)
{
	const int *ip = &dbk_orc_ip_start[at];

	row_ret->address = (unsigned long)ip + *ip;
	row_ret->next = NO_ROW;
	row_ret->entry = dbk_orc_start[at];
}

static void __init row_store(unsigned int at, const struct row *row)
{
	int *ip = &dbk_orc_ip_start[at];

	*ip = (int)(row->address - (unsigned long)ip);
	dbk_orc_start[at] = row->entry;
}

/* The series whose last row is nearest before @row, or @used; @limit_ret: where that of another one
 * begins to be nearer. */
static unsigned int __init series_find(const struct row *rows, const struct series *series,
				       unsigned int used, const struct row *row,
				       unsigned long *limit_ret)
{
	unsigned int s, best = used;

	*limit_ret = ULONG_MAX;
	for (s = 0; s < used; s++) {
		const struct row *last = &rows[series[s].last];

		if (!belongs_after(row, last))
			*limit_ret = min(*limit_ret, last->address);
		else if (best == used || last->address > rows[series[best].last].address)
			best = s;
	}
	return best;
}

/* Each row to a series.  Return: how many there are, 0 when they are too many. */
static unsigned int __init series_make(struct row *rows, unsigned int count,
				       struct series series[SERIES_MAX])
{
	unsigned int i, at = 0, used = 0;
	unsigned long limit = 0;

	for (i = 0; i < count; i++) {
		row_load(i, &rows[i]);
		/* Most rows follow the one before them. */
		if (i == 0 || rows[i].address >= limit || !belongs_after(&rows[i], &rows[i - 1]))
			at = series_find(rows, series, used, &rows[i], &limit);
		if (at == SERIES_MAX)
			return 0;
		if (at == used)
			series[used++].first = i;
		else
			rows[series[at].last].next = i;
		series[at].last = i;
	}
	return used;
}

/* The series whose first row is the next of all; @limit_ret: up to where its rows are. */
static unsigned int __init series_next(const struct row *rows, const struct series *series,
				       unsigned int used, unsigned long *limit_ret)
{
	unsigned int s, best = used;

	*limit_ret = ULONG_MAX;
	for (s = 0; s < used; s++) {
		if (series[s].first == NO_ROW)
			continue;
		if (best != used &&
		    belongs_after(&rows[series[s].first], &rows[series[best].first])) {
			*limit_ret = min(*limit_ret, rows[series[s].first].address);
			continue;
		}
		if (best != used)
			*limit_ret = rows[series[best].first].address;
		best = s;
	}
	return best;
}

static bool __init sort_series(unsigned int count)
{
	struct row *rows = __vmalloc(array_size(count, sizeof(*rows)), GFP_KERNEL | __GFP_NOWARN);
	struct series series[SERIES_MAX];
	unsigned int used = rows ? series_make(rows, count, series) : 0;
	unsigned int at = 0, row;
	unsigned long limit;

	while (used != 0 && at < count) {
		struct series *from = &series[series_next(rows, series, used, &limit)];

		row = from->first;
		do {
			row_store(at++, &rows[row]);
			row = rows[row].next;
		} while (row != NO_ROW && rows[row].address < limit);
		from->first = row;
	}
	vfree(rows);
	return used != 0;
}

static void __init sort_in_place(unsigned int count)
{
	struct row row, before;
	unsigned int i, at;

	for (i = 1; i < count; i++) {
		row_load(i, &row);
		for (at = i; at > 0; at--) {
			row_load(at - 1, &before);
			if (belongs_after(&row, &before))
				break;
			row_store(at, &before);
		}
		row_store(at, &row);
	}
}

void __init dbk_unwind_init(void)
{
	unsigned int count = dbk_orc_ip_end - dbk_orc_ip_start;

	if (count == 0)
		return;
	if (!sort_series(count))
		sort_in_place(count);
	THIS_MODULE->arch.orc_unwind_ip = dbk_orc_ip_start;
	THIS_MODULE->arch.orc_unwind = dbk_orc_start;
	/* A walk of a stack that the module is on finds no row until then, and follows frame
	 * pointers. */
	smp_store_release(&THIS_MODULE->arch.num_orcs, count);
}
#else
void __init dbk_unwind_init(void)
{
}
#endif
