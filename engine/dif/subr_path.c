/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* subr_path.c - basename(), dirname(), cleanpath(); see subr.h */
#include "engine/dif/subr.h"

/* Length of the path without trailing slashes; "/" keeps its one. */
__probe_ctx static uint32_t trimmed(const struct dbk_view *view, uint32_t length)
{
	while (length > 1 && view->text[length - 1] == '/')
		length--;
	return length;
}

__probe_ctx uint64_t dbk_subr_basename(struct dbk_cpu *cpu)
{
	struct dbk_view view;
	uint32_t to, from;

	if (!dbk_view_string(cpu, dbk_subr_argument(cpu, 0), &view))
		return 0;
	if (view.length == 0)
		return dbk_new_string(cpu, ".", 1);
	to = from = trimmed(&view, view.length);
	while (from > 0 && view.text[from - 1] != '/')
		from--;
	if (from == to) /* nothing but slashes */
		return dbk_new_string(cpu, "/", 1);
	return dbk_new_string(cpu, view.text + from, to - from);
}

__probe_ctx uint64_t dbk_subr_dirname(struct dbk_cpu *cpu)
{
	struct dbk_view view;
	uint32_t length;

	if (!dbk_view_string(cpu, dbk_subr_argument(cpu, 0), &view))
		return 0;
	length = view.length == 0 ? 0 : trimmed(&view, view.length);
	while (length > 0 && view.text[length - 1] != '/')
		length--;
	if (length == 0)
		return dbk_new_string(cpu, ".", 1);
	return dbk_new_string(cpu, view.text, trimmed(&view, length));
}

/* Where the last component of to[0 .. length) begins, its slash included. */
__probe_ctx static uint32_t parent(const char *to, uint32_t length)
{
	while (length > 0 && to[length - 1] != '/')
		length--;
	return length > 0 ? length - 1 : 0;
}

__probe_ctx static bool is_dots(const char *text, uint32_t length, uint32_t dots)
{
	return length == dots && text[0] == '.' && text[dots - 1] == '.';
}

/* Whether to[0 .. used) ends in a component that ".." takes back. */
__probe_ctx static bool goes_back(const char *to, uint32_t used, bool absolute)
{
	uint32_t from = used;

	if (absolute)
		return true; /* "/.." is "/" */
	while (from > 0 && to[from - 1] != '/')
		from--;
	return used > 0 && !is_dots(to + from, used - from, 2);
}

/* Joins components, without empty ones and ".", and takes one back for "..". */
__probe_ctx static uint32_t clean(const struct dbk_view *view, char *to)
{
	bool absolute = view->length > 0 && view->text[0] == '/';
	uint32_t at = 0, used = 0;

	while (at < view->length) {
		uint32_t from;

		while (at < view->length && view->text[at] == '/')
			at++;
		from = at;
		while (at < view->length && view->text[at] != '/')
			at++;
		if (from == at || is_dots(view->text + from, at - from, 1))
			continue;
		if (is_dots(view->text + from, at - from, 2) && goes_back(to, used, absolute)) {
			used = parent(to, used);
			continue;
		}
		if (absolute || used > 0)
			to[used++] = '/';
		memcpy(to + used, view->text + from, at - from);
		used += at - from;
	}
	if (used == 0)
		to[used++] = absolute ? '/' : '.';
	return used;
}

__probe_ctx uint64_t dbk_subr_cleanpath(struct dbk_cpu *cpu)
{
	struct dbk_view view;
	char *to;

	if (!dbk_view_string(cpu, dbk_subr_argument(cpu, 0), &view))
		return 0;
	to = dbk_scratch(cpu, (uint64_t)view.length + 2);
	if (to == NULL)
		return 0;
	to[clean(&view, to)] = '\0';
	return (uint64_t)(uintptr_t)to;
}
