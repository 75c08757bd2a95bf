/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* glob.c - probe descriptions against probe names */
#include "engine/api/engine.h"

/* Matches a class at pattern[0] == '[' against c; *end_ret is after its ']'.  An unclosed one is
 * no class: false, with *end_ret NULL. */
static bool match_class(const char *pattern, char c, const char **end_ret)
{
	const char *p = pattern + 1;
	bool inverted = *p == '!', found = false, first = true;

	*end_ret = NULL;
	if (inverted)
		p++;
	/* A ']' that comes first is a member. */
	for (; *p != '\0' && (*p != ']' || first); first = false) {
		char low, high;

		if (*p == '\\' && p[1] != '\0')
			p++;
		low = high = *p++;
		if (*p == '-' && p[1] != ']' && p[1] != '\0') {
			p++;
			if (*p == '\\' && p[1] != '\0')
				p++;
			high = *p++;
		}
		if ((unsigned char)low <= (unsigned char)c &&
		    (unsigned char)c <= (unsigned char)high)
			found = true;
	}
	if (*p == '\0')
		return false;
	*end_ret = p + 1;
	return found != inverted;
}

/*
 * Matches one pattern element that is no '*'; advances the pattern.
 *
 * @unclosed: the first '[' that is known to open no class, or NULL.  None after it does: a class
 * ends at any ']' that is not escaped and not its first member, and what is a later one's second
 * member is at least this one's third.  So that is found once in a match, not at every '['.
 */
static bool match_one(const char **pattern, char c, const char **unclosed)
{
	const char *p = *pattern, *end;
	bool matched;

	if (c == '\0')
		return false;
	if (*p == '[' && (*unclosed == NULL || p < *unclosed)) {
		matched = match_class(p, c, &end);
		if (end != NULL) {
			*pattern = end;
			return matched;
		}
		*unclosed = p;
	}
	if (*p == '\\' && p[1] != '\0')
		p++;
	else if (*p == '?')
		c = '?';
	*pattern = p + 1;
	return *p == c;
}

static bool is_special(char c)
{
	return c == '*' || c == '?' || c == '[' || c == '\\' || c == '\0';
}

bool dbk_glob_match(const char *pattern, const char *name)
{
	const char *star = NULL, *star_name = NULL, *unclosed = NULL;

	if (*pattern == '\0')
		return true;
	/* Most names differ from a pattern before its first star. */
	for (; !is_special(*pattern); pattern++, name++)
		if (*pattern != *name)
			return false;
	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			star_name = name;
			continue;
		}
		if (*pattern == '\0' && *name == '\0')
			return true;
		if (*pattern != '\0' && match_one(&pattern, *name, &unclosed)) {
			name++;
			continue;
		}
		/* Back to the last star, which takes one character more. */
		if (star == NULL || *star_name == '\0')
			return false;
		pattern = star;
		name = ++star_name;
	}
}

bool dbk_probedesc_match(const struct dbk_probedesc *description, const struct dbk_probe *probe)
{
	if (description->id != 0)
		return description->id == probe->id;
	/* By what differs most. */
	return dbk_glob_match(description->function, probe->function) &&
	       dbk_glob_match(description->name, probe->name) &&
	       dbk_glob_match(description->provider, probe->provider) &&
	       dbk_glob_match(description->module, probe->module);
}
