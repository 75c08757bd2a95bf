/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* subr_path.c - basename(), dirname(), cleanpath(); see subr.h */
#include "engine/run/subr.h"

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

__probe_ctx static bool follows(const struct dbk_view *view, uint32_t at, const char *what)
{
	uint32_t i;

	for (i = 0; what[i] != '\0'; i++)
		if (at + i >= view->length || view->text[at + i] != what[i])
			return false;
	return true;
}

/* Without the last component and its slash. */
__probe_ctx static uint32_t parent(const char *to, uint32_t length)
{
	while (length > 0 && to[length - 1] != '/')
		length--;
	return length > 0 ? length - 1 : 0;
}

/*
 * DTrace's rule: only what a slash ends is cleaned.  "//" and "/./" become "/", "/../"
 * takes the component before it along; "." and ".." at the end stay, and so does a
 * trailing slash.
 */
__probe_ctx static uint32_t clean(const struct dbk_view *view, char *to)
{
	uint32_t at = 0, used = 0;

	while (at < view->length) {
		if (follows(view, at, "//")) {
			at += 1;
		} else if (follows(view, at, "/./")) {
			at += 2;
		} else if (follows(view, at, "/../")) {
			at += 3;
			used = parent(to, used);
		} else {
			to[used++] = view->text[at++];
		}
	}
	return used;
}

__probe_ctx uint64_t dbk_subr_cleanpath(struct dbk_cpu *cpu)
{
	struct dbk_view view;
	char *to;

	if (!dbk_view_string(cpu, dbk_subr_argument(cpu, 0), &view))
		return 0;
	to = dbk_scratch(cpu, (uint64_t)view.length + 1);
	if (to == NULL || !dbk_spend(cpu, (uint64_t)view.length * DBK_WORK_CHAR))
		return 0;
	to[clean(&view, to)] = '\0';
	return (uint64_t)(uintptr_t)to;
}
