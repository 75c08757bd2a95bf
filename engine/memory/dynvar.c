/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* dynvar.c - the table of dynamic variables; see dynvar.h.  Probe context */
#include "engine/memory/buffer.h"
#include "engine/memory/dynvar.h"
#include "engine/memory/dynvar_chunks.h"

#define SPIN_MAX 100000u /* tries to enter a bucket; a writer inside needs some hundred */
#define WALK_MAX 64u   /* chunks of one chain: as many buckets as chunks, a random one has some 8 */
#define READ_MAX 1000u /* readings of a bucket that keeps changing */

/* ---- free lists -------------------------------------------------------------------------- */

__probe_ctx static uint32_t take_from(struct dbk_dynvars *dynvars, uint64_t *list)
{
	uint64_t head = dbk_load_acquire(list);
	uint32_t tries, number;

	for (tries = 0; tries < SPIN_MAX; tries++) {
		number = (uint32_t)head;
		if (number == DBK_CHUNK_NONE)
			return DBK_CHUNK_NONE;
		if (dbk_compare_swap(
			    list, &head,
			    dbk_next_head(head,
					  dbk_load_relaxed(&dbk_chunk(dynvars, number)->next))))
			return number;
	}
	return DBK_CHUNK_NONE;
}

__probe_ctx uint32_t dbk_chunk_take(struct dbk_dynvars *dynvars, uint32_t cpu)
{
	struct dbk_free_list *own = &dynvars->free[cpu];
	uint32_t most = dynvars->free_count < DBK_CHUNK_LOOKS_MAX ? dynvars->free_count
								  : DBK_CHUNK_LOOKS_MAX;
	uint32_t looks, number = take_from(dynvars, &own->head);

	for (looks = 0; number == DBK_CHUNK_NONE && looks < most; looks++) {
		number = take_from(dynvars, &dynvars->free[own->search].head);
		if (number == DBK_CHUNK_NONE)
			own->search = own->search + 1 == dynvars->free_count ? 0 : own->search + 1;
	}
	return number;
}

/* ---- keys ---------------------------------------------------------------------------------- */

__probe_ctx void dbk_dynvar_key(const struct dbk_cpu *cpu, uint32_t var, bool thread,
				uint32_t bytes, struct dbk_dynvar_key *key_ret)
{
	const struct dbk_secret *secret = &cpu->secret;

	key_ret->var = var;
	key_ret->thread = thread ? dbk_host_thread_key() : 0;
	key_ret->bytes = bytes;
	key_ret->data = cpu->key;
	key_ret->hash = (uint32_t)dbk_hash(
		secret, dbk_hash_word(secret, key_ret->thread, (uint64_t)bytes << 32 | var),
		key_ret->data, bytes);
}

__probe_ctx static bool same_key(const struct dbk_dynvars *dynvars, const struct dbk_dynvar *c,
				 const struct dbk_dynvar_key *key)
{
	return c->hash == key->hash && c->var == key->var && c->thread == key->thread &&
	       c->key_bytes == key->bytes &&
	       memcmp((const uint8_t *)c->data + dynvars->data_bytes, key->data, key->bytes) == 0;
}

/* ---- chains ------------------------------------------------------------------------------ */

/* The chunk with the key, and the link that leads to it; DBK_CHUNK_NONE when there is none.  With
 * *link_ret NULL the chain is longer than any should be: it may be there or not. */
__probe_ctx static uint32_t find_chunk(const struct dbk_dynvars *dynvars, struct dbk_bucket *bucket,
				       const struct dbk_dynvar_key *key, uint32_t **link_ret)
{
	uint32_t *link = &bucket->first;
	uint32_t number, steps;

	for (steps = 0; steps < WALK_MAX; steps++) {
		number = dbk_load_relaxed(link);
		if (number == DBK_CHUNK_NONE || same_key(dynvars, dbk_chunk(dynvars, number), key))
			break;
		link = &dbk_chunk(dynvars, number)->next;
	}
	*link_ret = steps == WALK_MAX ? NULL : link;
	return steps == WALK_MAX ? DBK_CHUNK_NONE : number;
}

__probe_ctx static bool enter_bucket(struct dbk_bucket *bucket)
{
	uint32_t tries, version;

	for (tries = 0; tries < SPIN_MAX; tries++) {
		version = dbk_load_relaxed(&bucket->version);
		if ((version & 1) == 0 &&
		    dbk_compare_swap(&bucket->version, &version, version + 1)) {
			/* Who sees what is stored into chunks now sees the version, too. */
			__atomic_thread_fence(__ATOMIC_RELEASE);
			return true;
		}
	}
	return false;
}

__probe_ctx static void leave_bucket(struct dbk_bucket *bucket)
{
	dbk_store_release(&bucket->version, dbk_load_relaxed(&bucket->version) + 1);
}

__probe_ctx static struct dbk_bucket *bucket_of(struct dbk_dynvars *dynvars,
						const struct dbk_dynvar_key *key)
{
	return &dynvars->buckets[key->hash & (dynvars->bucket_count - 1)];
}

/* ---- loads and stores ------------------------------------------------------------------------ */

/* One reading; what it copied counts only if the version is still the same. */
__probe_ctx static uint64_t read_chunk(const struct dbk_var *var, struct dbk_dynvar *c, void *copy)
{
	if (!var->by_ref)
		return dbk_load_relaxed(&c->data[0]);
	if (copy == NULL)
		return (uint64_t)(uintptr_t)c->data;
	memcpy(copy, c->data, var->bytes);
	return (uint64_t)(uintptr_t)copy;
}

__probe_ctx uint64_t dbk_bucket_load(struct dbk_cpu *cpu, const struct dbk_dynvar_key *key,
				     void *copy)
{
	struct dbk_dynvars *dynvars = &cpu->consumer->dynvars;
	const struct dbk_var *var = &cpu->consumer->program->vars[key->var];
	struct dbk_bucket *bucket = bucket_of(dynvars, key);
	uint32_t tries, version, number, *link;
	uint64_t value;

	for (tries = 0; tries < READ_MAX; tries++) {
		version = dbk_load_acquire(&bucket->version);
		if ((version & 1) != 0)
			continue;
		number = find_chunk(dynvars, bucket, key, &link);
		value = number == DBK_CHUNK_NONE
				? 0
				: read_chunk(var, dbk_chunk(dynvars, number), copy);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (dbk_load_relaxed(&bucket->version) != version)
			continue;
		if (link == NULL)
			break;
		return value;
	}
	dbk_drop(cpu->buffer, DBK_DROP_DYNAMIC);
	return 0;
}

__probe_ctx void dbk_dynvar_put(struct dbk_dynvar *c, const struct dbk_var *var, uint64_t value)
{
	const char *from = (const char *)(uintptr_t)value;
	uint32_t i = 0;

	if (!var->by_ref) {
		dbk_store_relaxed(&c->data[0], value);
	} else if (var->is_string) {
		for (; i < var->bytes - 1 && from[i] != '\0'; i++)
			((char *)c->data)[i] = from[i];
		((char *)c->data)[i] = '\0';
	} else {
		memcpy(c->data, from, var->bytes);
	}
}

/* In the bucket.  false: no chunk is free, or the chain is too long.  *change_ret: how many more
 * variables there are now. */
__probe_ctx static bool store_inside(struct dbk_cpu *cpu, struct dbk_dynvars *dynvars,
				     struct dbk_bucket *bucket, const struct dbk_dynvar_key *key,
				     const struct dbk_var *var, uint64_t value, int32_t *change_ret)
{
	struct dbk_dynvar *c;
	uint32_t *link, number = find_chunk(dynvars, bucket, key, &link);

	if (link == NULL)
		return false;
	if (number == DBK_CHUNK_NONE && value == 0)
		return true;
	if (value == 0) {
		dbk_store_relaxed(link, dbk_chunk(dynvars, number)->next);
		dbk_chunk_give(dynvars, cpu->index, number);
		*change_ret = -1;
		return true;
	}
	if (number != DBK_CHUNK_NONE) {
		dbk_dynvar_put(dbk_chunk(dynvars, number), var, value);
		return true;
	}
	number = dbk_chunk_take(dynvars, cpu->index);
	if (number == DBK_CHUNK_NONE)
		return false;
	c = dbk_chunk(dynvars, number);
	c->var = key->var;
	c->thread = key->thread;
	c->hash = key->hash;
	c->key_bytes = key->bytes;
	memcpy((uint8_t *)c->data + dynvars->data_bytes, key->data, key->bytes);
	dbk_dynvar_put(c, var, value);
	dbk_store_relaxed(&c->next, bucket->first);
	dbk_store_release(&bucket->first, number);
	*change_ret = 1;
	return true;
}

__probe_ctx bool dbk_bucket_store(struct dbk_cpu *cpu, const struct dbk_dynvar_key *key,
				  uint64_t value, int32_t *change_ret)
{
	struct dbk_dynvars *dynvars = &cpu->consumer->dynvars;
	const struct dbk_var *var = &cpu->consumer->program->vars[key->var];
	struct dbk_bucket *bucket = bucket_of(dynvars, key);
	bool stored = false;

	if (enter_bucket(bucket)) {
		stored = store_inside(cpu, dynvars, bucket, key, var, value, change_ret);
		leave_bucket(bucket);
	}
	if (!stored)
		dbk_drop(cpu->buffer, DBK_DROP_DYNAMIC);
	return stored;
}
