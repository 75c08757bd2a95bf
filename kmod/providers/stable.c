// SPDX-License-Identifier: GPL-2.0-only
/*
 * stable.c - the providers that are tables: formats/abi/probes/ (docs/design/0083-providers-as-tables.md)
 *
 * Rows of one name are one probe, which is the first's that this kernel has the place of.  A place is
 * hooked while its probe is enabled: at a tracepoint, or with the functions of provider fbt.
 *
 * Which places there are is found out when a program first names one of their providers, the functions of
 * all rows in one walk over the kernel's symbols; only then there is anything in memory but the constant rows.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kmod/providers/stable.h"
#include "kmod/providers/wait.h"

/* A place that a row names, which this kernel may have. */
struct candidate {
	const struct stable_row *row;
	const char *names[4]; /* provider, module, function and name of its probe */
	const char *where;
	unsigned long address;	/* of the function, once functions were looked for; 0: not there */
	bool tried;
	struct candidate *next; /* of the same bucket, while functions are looked for */
};

static LIST_HEAD(places);		    /* [S] that were found */
static struct candidate *candidates;	    /* [S] NULL until a program names a provider of them */
static u32 candidate_count;		    /* [S] */
static char *candidate_texts;		    /* [S] */
static bool functions_known;		    /* [S] */

static char *text_next(char *text)
{
	return text + strlen(text) + 1;
}

static u32 words_of(const char *text)
{
	u32 count = 1;

	while ((text = strchr(text, ' ')) != NULL) {
		count++;
		text++;
	}
	return count;
}

/* One for each of the row's places, of which function "*" takes its name. */
static void row_unfold(const struct stable_row *row)
{
	char *provider = candidate_texts + row->text, *module = text_next(provider);
	char *function = text_next(module), *name = text_next(function), *where = text_next(name);
	char *word;

	while ((word = strsep(&where, " ")) != NULL) {
		candidates[candidate_count++] = (struct candidate){
			.row = row,
			.names = { provider, module, strcmp(function, "*") == 0 ? word : function, name },
			.where = word,
		};
	}
}

static int rows_unfold(void)
{
	u32 count = 0;
	u32 i, part;

	if (candidates)
		return 0;
	for (i = 0; i < stable_row_count; i++) {
		const char *text = stable_texts + stable_rows[i].text;

		for (part = 0; part < 4; part++)
			text += strlen(text) + 1;
		count += words_of(text);
	}
	candidate_texts = kvmalloc(stable_text_bytes, GFP_KERNEL);
	candidates = candidate_texts ? kvcalloc(count, sizeof(*candidates), GFP_KERNEL) : NULL;
	if (!candidates) {
		kvfree(candidate_texts);
		candidate_texts = NULL;
		return -ENOMEM;
	}
	memcpy(candidate_texts, stable_texts, stable_text_bytes);
	for (i = 0; i < stable_row_count; i++)
		row_unfold(&stable_rows[i]);
	return 0;
}

/* Whether @symbol is @name, or the copy of it that the compiler made of a static function. */
static bool is_named(const char *symbol, const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(symbol, name, bytes) == 0 &&
	       (symbol[bytes] == '\0' || strcmp(symbol + bytes, ".isra.0") == 0 ||
		strcmp(symbol + bytes, ".constprop.0") == 0);
}

/* Candidates by what their functions' names begin with: a kernel has 150 000 symbols. */
#define BUCKETS 64

struct search {
	struct candidate *buckets[BUCKETS];
};

static u32 bucket_of(const char *name)
{
	return ((u8)name[0] * 5 + (name[0] ? (u8)name[1] : 0)) % BUCKETS;
}

static int search_symbol(void *data, const char *name, unsigned long address)
{
	const struct search *search = data;
	struct candidate *candidate;

	for (candidate = search->buckets[bucket_of(name)]; candidate; candidate = candidate->next)
		if (candidate->address == 0 && is_named(name, candidate->where))
			candidate->address = address;
	return 0;
}

static int functions_find(void)
{
	struct search search = { 0 };
	int err;
	u32 i;

	if (functions_known)
		return 0;
	for (i = 0; i < candidate_count; i++) {
		struct candidate *candidate = &candidates[i];
		struct candidate **bucket = &search.buckets[bucket_of(candidate->where)];

		if (candidate->row->kind == TRACEPOINT)
			continue;
		candidate->next = *bucket;
		*bucket = candidate;
	}
	err = dbk_symbols_walk(search_symbol, &search);
	if (err)
		pr_warn("the stable providers' functions cannot be found (error %d)\n", -err);
	functions_known = err == 0;
	return err;
}

/* Whether this kernel has the place; then it is ready to be hooked for @probe. */
static bool place_find(struct stable_place *place, const struct candidate *candidate,
		       struct dbk_probe *probe)
{
	place->firing = (struct stable_firing){ .probe = probe, .frame = &place->frame };
	if (place->row->kind == TRACEPOINT) {
		place->hook = (struct dbk_tracepoint_hook){
			.name = candidate->where,
			.callback = place->row->callback,
			.data = &place->firing,
			/* The callbacks of one tracepoint are called in the order of their rows. */
			.priority = TRACEPOINT_DEFAULT_PRIO + stable_row_count -
				    (place->row - stable_rows),
		};
		if (!dbk_tracepoint_find(&place->hook))
			return false;
		place->frame = dbk_tracepoint_frame(place->hook.tracepoint);
		return true;
	}
	return functions_find() == 0 && candidate->address != 0 &&
	       fbt_hook_init(&place->fbt, probe, candidate->address,
			     place->row->kind == RETURN ? FBT_RETURN : FBT_ENTRY, stable_on_function);
}

/* Its place for the probe of @first, or for one of its own; NULL when this kernel has none. */
static struct stable_place *place_create(const struct candidate *candidate, struct stable_place *first)
{
	struct stable_place *place = kzalloc(sizeof(*place), GFP_KERNEL);
	struct dbk_probe *probe = first ? &first->probe : &place->probe;

	if (!place)
		return ERR_PTR(-ENOMEM);
	place->row = candidate->row;
	place->probe.provider = candidate->names[0];
	place->probe.module = candidate->names[1];
	place->probe.function = candidate->names[2];
	place->probe.name = candidate->names[3];
	place->probe.host_data = (void *)&dbk_provider_stable;
	if (!place_find(place, candidate, probe)) {
		kfree(place);
		return NULL;
	}
	dbk_probe_args_in_order(probe, max(probe->arg_count, place->row->arg_count));
	list_add_tail(&place->link, &places);
	return place;
}

static bool is_same_probe(const struct candidate *a, const struct candidate *b)
{
	return strcmp(a->names[3], b->names[3]) == 0 && strcmp(a->names[0], b->names[0]) == 0 &&
	       strcmp(a->names[1], b->names[1]) == 0 && strcmp(a->names[2], b->names[2]) == 0;
}

/* Publishes the probe of @candidate, with all the places of its name that this kernel has. */
static int probe_publish(struct candidate *candidate)
{
	struct stable_place *first = NULL, *last = NULL;
	struct candidate *other;
	int err = 0;

	for (other = candidate; other < candidates + candidate_count; other++) {
		struct stable_place *place;

		if (!is_same_probe(other, candidate))
			continue;
		other->tried = true;
		place = place_create(other, first);
		if (IS_ERR(place))
			err = PTR_ERR(place);
		if (IS_ERR_OR_NULL(place))
			continue;
		if (last)
			last->next = place;
		else
			first = place;
		last = place;
	}
	return (first ? dbk_probe_add(dbk.engine, &first->probe) : 0) ?: err;
}

static bool names_provider(const struct dbk_probedesc *description)
{
	u32 i;

	for (i = 0; i < stable_row_count; i++)
		if (dbk_glob_match(description->provider, stable_texts + stable_rows[i].text))
			return true;
	return false;
}

static bool is_asked_for(const struct candidate *candidate, const struct dbk_probedesc *description)
{
	return dbk_glob_match(description->provider, candidate->names[0]) &&
	       dbk_glob_match(description->module, candidate->names[1]) &&
	       dbk_glob_match(description->function, candidate->names[2]) &&
	       dbk_glob_match(description->name, candidate->names[3]);
}

bool stable_has_provider(const char *name)
{
	u32 i;

	for (i = 0; i < stable_row_count; i++)
		if (strcmp(stable_texts + stable_rows[i].text, name) == 0)
			return true;
	return false;
}

static int stable_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
			  const struct dbk_probedesc *description)
{
	int err;
	u32 i;

	dbk_state_assert();
	if (!names_provider(description))
		return 0;
	err = rows_unfold();
	for (i = 0; i < candidate_count && !err; i++)
		if (!candidates[i].tried && is_asked_for(&candidates[i], description))
			err = probe_publish(&candidates[i]);
	return err;
}

static bool is_published(const struct stable_place *place)
{
	return place->firing.probe == &place->probe && place->probe.id != 0;
}

static void stable_exit(const struct dbk_provider *self)
{
	struct stable_place *place, *next;
	struct dbk_retire retire;

	dbk_state_assert();
	dbk_retire_begin(&retire, candidate_count);
	list_for_each_entry(place, &places, link)
		if (is_published(place))
			dbk_retire_add(&retire, &place->probe);
	dbk_retire_end(&retire);
	list_for_each_entry_safe(place, next, &places, link)
		kfree(place);
	kvfree(candidates);
	kvfree(candidate_texts);
}

static void stable_disable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct stable_place *place;

	dbk_state_assert();
	for (place = container_of(probe, struct stable_place, probe); place; place = place->next) {
		if (place->hook.tracepoint)
			place->wanted = false;
		else
			fbt_unhook(&place->fbt);
	}
}

static int stable_enable(const struct dbk_provider *self, struct dbk_probe *probe)
{
	struct stable_place *place;

	dbk_state_assert();
	dbk_waits_forget(probe);
	for (place = container_of(probe, struct stable_place, probe); place; place = place->next) {
		int err;

		if (!place->hook.tracepoint) {
			fbt_hook(&place->fbt);
			continue;
		}
		err = dbk_tracepoint_hook(&place->hook);
		if (err) {
			stable_disable(self, probe);
			return err;
		}
		place->wanted = true;
	}
	return 0;
}

/* Functions are settled with those of provider fbt. */
static int stable_settle(const struct dbk_provider *self, const struct module *module)
{
	struct stable_place *place;

	dbk_state_assert();
	list_for_each_entry(place, &places, link)
		if (!place->wanted)
			dbk_tracepoint_unhook(&place->hook);
	return 0;
}

/* enable() hooked what are tracepoints. */
static bool stable_is_hooked(const struct dbk_provider *self, const struct dbk_probe *probe)
{
	const struct stable_place *place;

	dbk_state_assert();
	for (place = container_of(probe, struct stable_place, probe); place; place = place->next)
		if (!place->hook.tracepoint && !fbt_is_hooked(&place->fbt))
			return false;
	return true;
}

const struct dbk_provider dbk_provider_stable = {
	.name = "*",
	.exit = stable_exit,
	.provide = stable_provide,
	.enable = stable_enable,
	.disable = stable_disable,
	.settle = stable_settle,
	.is_hooked = stable_is_hooked,
};
