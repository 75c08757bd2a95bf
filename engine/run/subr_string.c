/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * subr_string.c - strings; see subr.h
 *
 * strchr(), strrchr() and strstr() return an address inside the string that
 * they were given, as in C; the others return a new string in scratch.
 */
#include "engine/run/subr.h"

__probe_ctx static bool view_argument(struct dbk_cpu *cpu, uint32_t index, struct dbk_view *view)
{
	return dbk_view_string(cpu, dbk_subr_argument(cpu, index), view);
}

__probe_ctx uint64_t dbk_subr_strlen(struct dbk_cpu *cpu)
{
	uint32_t mark = cpu->scratch_used;
	struct dbk_view view = {"", 0};

	view_argument(cpu, 0, &view);
	cpu->scratch_used = mark;
	return view.length;
}

__probe_ctx uint64_t dbk_subr_strjoin(struct dbk_cpu *cpu)
{
	uint32_t most = cpu->consumer->strsize;
	struct dbk_view a, b;
	char *to;

	if (!view_argument(cpu, 0, &a) || !view_argument(cpu, 1, &b))
		return 0;
	if (b.length > most - a.length)
		b.length = most - a.length;
	to = dbk_scratch(cpu, (uint64_t)a.length + b.length + 1);
	if (to == NULL)
		return 0;
	memcpy(to, a.text, a.length);
	memcpy(to + a.length, b.text, b.length);
	to[a.length + b.length] = '\0';
	return (uint64_t)(uintptr_t)to;
}

/* lltostr(number[, base]): decimal is signed; octal and hexadecimal have C's prefixes. */
__probe_ctx uint64_t dbk_subr_lltostr(struct dbk_cpu *cpu)
{
	uint64_t value = dbk_subr_argument(cpu, 0), base = 10;
	char text[68], *at = text + sizeof(text);
	bool negative;

	if (cpu->tuple_count > 1)
		base = dbk_subr_argument(cpu, 1);
	if (base < 2 || base > 36)
		return dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	negative = base == 10 && (int64_t)value < 0;
	if (negative)
		value = 0 - value;
	do {
		uint32_t digit = (uint32_t)(value % base);

		*--at = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
		value /= base;
	} while (value != 0);
	if (negative)
		*--at = '-';
	if (base == 16)
		*--at = 'x';
	if (base == 16 || (base == 8 && *at != '0'))
		*--at = '0';
	return dbk_new_string(cpu, at, (uint32_t)(text + sizeof(text) - at));
}

__probe_ctx uint64_t dbk_subr_strchr(struct dbk_cpu *cpu)
{
	uint32_t mark = cpu->scratch_used, i;
	char wanted = (char)dbk_subr_argument(cpu, 1);
	struct dbk_view view;

	if (!view_argument(cpu, 0, &view))
		return 0;
	cpu->scratch_used = mark;
	for (i = 0; i < view.length; i++)
		if (view.text[i] == wanted)
			return dbk_subr_argument(cpu, 0) + i;
	return wanted == '\0' ? dbk_subr_argument(cpu, 0) + view.length : 0;
}

__probe_ctx uint64_t dbk_subr_strrchr(struct dbk_cpu *cpu)
{
	uint32_t mark = cpu->scratch_used, i;
	char wanted = (char)dbk_subr_argument(cpu, 1);
	struct dbk_view view;

	if (!view_argument(cpu, 0, &view))
		return 0;
	cpu->scratch_used = mark;
	if (wanted == '\0')
		return dbk_subr_argument(cpu, 0) + view.length;
	for (i = view.length; i > 0; i--)
		if (view.text[i - 1] == wanted)
			return dbk_subr_argument(cpu, 0) + i - 1;
	return 0;
}

/* Characters one after the other, from the first on or from the last back. */
struct row {
	const uint8_t *first;
	int64_t step; /* 1 or -1 */
	int64_t count;
};

__probe_ctx static struct row row_of(const struct dbk_view *view, int64_t from, int64_t count,
				     bool back)
{
	const uint8_t *text = (const uint8_t *)view->text + from;
	struct row row = {back ? text + count - 1 : text, back ? -1 : 1, count};

	return row;
}

__probe_ctx static bool starts_with(const struct row *row, int64_t at, const struct row *part)
{
	int64_t i = 0;

	while (i < part->count && row->first[(at + i) * row->step] == part->first[i * part->step])
		i++;
	return i == part->count;
}

/* Odd, so that no power of it is 0, and without a pattern: 2^64 / golden ratio. */
#define HASH_BASE 0x9e3779b97f4a7c15ull

/*
 * The first place of @part in @row, -1: none.  By Karp and Rabin: the hash of as many characters as
 * the part has moves along, so that the work grows with the sum of the lengths, without memory of
 * its own.  Only where hashes are equal are characters compared, and that is charged.
 */
__probe_ctx static int64_t search(struct dbk_cpu *cpu, const struct row *row,
				  const struct row *part)
{
	uint64_t wanted = 0, window = 0, leaving = 1;
	int64_t i, at;

	if (part->count > row->count ||
	    !dbk_spend(cpu, (uint64_t)(row->count + part->count) * DBK_WORK_CHAR))
		return -1;
	for (i = 0; i < part->count; i++) {
		wanted = wanted * HASH_BASE + part->first[i * part->step];
		window = window * HASH_BASE + row->first[i * row->step];
		leaving *= HASH_BASE;
	}
	for (at = 0;; at++) {
		if (window == wanted) {
			if (!dbk_spend(cpu, (uint64_t)part->count * DBK_WORK_CHAR))
				return -1;
			if (starts_with(row, at, part))
				return at;
		}
		if (at + part->count == row->count)
			return -1;
		window = window * HASH_BASE + row->first[(at + part->count) * row->step] -
			 leaving * row->first[at * row->step];
	}
}

/* First place of @part in @view at or after @at, with @back the last one at or before; -1: none. */
__probe_ctx static int64_t find(struct dbk_cpu *cpu, const struct dbk_view *view,
				const struct dbk_view *part, int64_t at, bool back)
{
	struct row row, wanted = row_of(part, 0, part->length, back);
	int64_t last = (int64_t)view->length - part->length, found;

	if (last < 0 || (!back && at > last))
		return -1;
	if (back && at > last)
		at = last;
	row = row_of(view, back ? 0 : at, back ? at + part->length : view->length - at, back);
	found = search(cpu, &row, &wanted);
	if (found < 0)
		return -1;
	return back ? at - found : at + found;
}

__probe_ctx static bool view_two(struct dbk_cpu *cpu, struct dbk_view *a, struct dbk_view *b)
{
	uint32_t mark = cpu->scratch_used;
	bool ok = view_argument(cpu, 0, a) && view_argument(cpu, 1, b);

	cpu->scratch_used = mark;
	return ok;
}

__probe_ctx uint64_t dbk_subr_strstr(struct dbk_cpu *cpu)
{
	struct dbk_view view, part;
	int64_t at;

	if (!view_two(cpu, &view, &part))
		return 0;
	at = find(cpu, &view, &part, 0, false);
	return at < 0 ? 0 : dbk_subr_argument(cpu, 0) + (uint64_t)at;
}

/* index(string, part[, from]) */
__probe_ctx uint64_t dbk_subr_index(struct dbk_cpu *cpu)
{
	int64_t from = cpu->tuple_count > 2 ? (int64_t)dbk_subr_argument(cpu, 2) : 0;
	struct dbk_view view, part;

	if (!view_two(cpu, &view, &part))
		return 0;
	if (from < 0)
		from = 0;
	if (part.length == 0)
		return from < (int64_t)view.length ? (uint64_t)from : view.length;
	return (uint64_t)find(cpu, &view, &part, from, false);
}

/* rindex(string, part[, from]): the last that begins at or before `from` */
__probe_ctx uint64_t dbk_subr_rindex(struct dbk_cpu *cpu)
{
	struct dbk_view view, part;
	int64_t from;

	if (!view_two(cpu, &view, &part))
		return 0;
	from = view.length;
	if (cpu->tuple_count > 2 && (int64_t)dbk_subr_argument(cpu, 2) < from)
		from = (int64_t)dbk_subr_argument(cpu, 2);
	if (from < 0)
		return part.length == 0 ? 0 : (uint64_t)-1;
	return (uint64_t)find(cpu, &view, &part, from, true);
}

/* substr(string, from[, length]): a negative `from` counts from the end, a negative length leaves
 * that many characters out there. */
__probe_ctx uint64_t dbk_subr_substr(struct dbk_cpu *cpu)
{
	int64_t from = (int32_t)dbk_subr_argument(cpu, 1), length = DBK_STRSIZE_MAX, left;
	struct dbk_view view;

	if (!view_argument(cpu, 0, &view))
		return 0;
	if (cpu->tuple_count > 2)
		length = (int32_t)dbk_subr_argument(cpu, 2);
	if (from < 0) {
		from += view.length;
		/* What lies before the start is cut off the length; all of it may. */
		if (from < 0) {
			length = from + length > 0 ? from + length : 0;
			from = 0;
		}
	}
	left = (int64_t)view.length - from;
	if (left < 0)
		left = 0;
	if (length < 0)
		length = left + length > 0 ? left + length : 0;
	if (length > left)
		length = left;
	return dbk_new_string(cpu, view.text + (left == 0 ? 0 : from), (uint32_t)length);
}

/* The characters of a string: one bit for each. */
struct char_set {
	uint64_t words[4];
};

__probe_ctx static struct char_set set_of(const struct dbk_view *view)
{
	struct char_set set = {{0, 0, 0, 0}};
	uint32_t i;

	for (i = 0; i < view->length; i++) {
		uint8_t c = (uint8_t)view->text[i];

		set.words[c / 64] |= 1ull << (c % 64);
	}
	return set;
}

__probe_ctx static bool contains(const struct char_set *set, char c)
{
	return (set->words[(uint8_t)c / 64] >> ((uint8_t)c % 64) & 1) != 0;
}

/* Where strtok() goes on in this firing, in whichever clause; false after a fault. */
__probe_ctx static bool begin_strtok(struct dbk_cpu *cpu, uint64_t string)
{
	struct dbk_view view;

	if (string == 0) {
		if (cpu->strtok_serial == cpu->serial)
			return true;
		dbk_fault(cpu, DTRACEFLT_BADADDR, 0);
		return false;
	}
	if (!dbk_view_string(cpu, string, &view))
		return false;
	/* A copy: the original may be anything's memory. */
	memmove(cpu->strtok, view.text, view.length);
	cpu->strtok_length = view.length;
	cpu->strtok_at = 0;
	cpu->strtok_serial = cpu->serial;
	return true;
}

/* strtok(string, separators): NULL goes on where the last call of this firing stopped. */
__probe_ctx uint64_t dbk_subr_strtok(struct dbk_cpu *cpu)
{
	struct dbk_view text;
	struct char_set separators;
	uint32_t from, to;

	if (!view_argument(cpu, 1, &text) || !begin_strtok(cpu, dbk_subr_argument(cpu, 0)))
		return 0;
	separators = set_of(&text);
	from = cpu->strtok_at;
	while (from < cpu->strtok_length && contains(&separators, cpu->strtok[from]))
		from++;
	if (!dbk_spend(cpu, (uint64_t)(from - cpu->strtok_at) * DBK_WORK_CHAR))
		return 0;
	if (from == cpu->strtok_length) {
		cpu->strtok_serial = cpu->serial - 1;
		return 0;
	}
	to = from;
	while (to < cpu->strtok_length && !contains(&separators, cpu->strtok[to]))
		to++;
	cpu->strtok_at = to; /* the next call may have other separators */
	return dbk_new_string(cpu, cpu->strtok + from, to - from);
}

/* @from .. @to moved by @step; other bytes stay. */
__probe_ctx static uint64_t mapped(struct dbk_cpu *cpu, char from, char to, int32_t step)
{
	struct dbk_view view;
	uint64_t copy;
	uint32_t i;
	char *text;

	if (!view_argument(cpu, 0, &view))
		return 0;
	copy = dbk_new_string(cpu, view.text, view.length);
	text = (char *)(uintptr_t)copy;
	for (i = 0; text != NULL && text[i] != '\0'; i++)
		if (text[i] >= from && text[i] <= to)
			text[i] = (char)(text[i] + step);
	return copy;
}

__probe_ctx uint64_t dbk_subr_toupper(struct dbk_cpu *cpu)
{
	return mapped(cpu, 'a', 'z', 'A' - 'a');
}

__probe_ctx uint64_t dbk_subr_tolower(struct dbk_cpu *cpu)
{
	return mapped(cpu, 'A', 'Z', 'a' - 'A');
}

/* The digit's value, or 36 when it is none. */
__probe_ctx static uint32_t digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0');
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a') + 10;
	if (c >= 'A' && c <= 'Z')
		return (uint32_t)(c - 'A') + 10;
	return 36;
}

__probe_ctx static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* strtoll(string[, base]): as in C, but that base 0 is not a base and overflow wraps. */
__probe_ctx uint64_t dbk_subr_strtoll(struct dbk_cpu *cpu)
{
	uint64_t base = cpu->tuple_count > 1 ? dbk_subr_argument(cpu, 1) : 10, value = 0;
	struct dbk_view view;
	uint32_t at = 0;
	bool negative = false;

	if (base < 2 || base > 36)
		return dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	if (!view_argument(cpu, 0, &view))
		return 0;
	while (at < view.length && is_space(view.text[at]))
		at++;
	if (at < view.length && (view.text[at] == '-' || view.text[at] == '+'))
		negative = view.text[at++] == '-';
	if (base == 16 && at + 2 < view.length && view.text[at] == '0' &&
	    (view.text[at + 1] | 0x20) == 'x' && digit_of(view.text[at + 2]) < 16)
		at += 2;
	for (; at < view.length && digit_of(view.text[at]) < base; at++)
		value = value * base + digit_of(view.text[at]);
	return negative ? 0 - value : value;
}
