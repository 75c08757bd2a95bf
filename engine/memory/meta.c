/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * meta.c - metadata blocks and the list of a consumer's regions; see buffer.h
 *
 * Control path.  Blocks only grow: what is after committed_bytes is zero, an
 * entry is copied there, then committed_bytes covers it.
 */
#include "engine/api/crc32c.h"
#include "engine/memory/buffer.h"
#include "engine/types/reason.h"

#define PAGE_BYTES 4096u

/* Entries are appended to blocks of this size: many probes, few blocks. */
#define LIST_BLOCK_BYTES (256u << 10)
#define LIST_BLOCK_MIN                                                                             \
	(64u << 10) /* an ECB of DBK_FIELDS_MAX fields needs more; see add_block()                 \
		     */

void dbk_meta_block_init(const struct dbk_pages *pages, enum dbk_meta_kind kind, uint64_t boot_id,
			 uint16_t ring_id)
{
	struct dbk_meta_header *header = pages->address;

	header->version = DBK_META_VERSION;
	header->kind = (uint16_t)kind;
	header->block_bytes = pages->bytes;
	header->committed_bytes = DBK_META_DATA_OFFSET;
	header->boot_id = boot_id;
	header->phys_addr = pages->phys_addr;
	header->ring_id = ring_id;
	header->part_count = 1;
	dbk_store_release(&header->magic, DBK_META_MAGIC);
}

/* What changes in place cannot be vouched for. */
static bool is_checked(uint32_t kind)
{
	return kind == DBK_META_HOST || kind == DBK_META_DOF || kind == DBK_META_PROBES ||
	       kind == DBK_META_ECBS || kind == DBK_META_MAPS;
}

/*
 * The checksum goes on from that of what is there, so a block of many entries costs no more than
 * its bytes.  Two words take turns: whatever committed_bytes is when the machine dies, one is for
 * it.
 */
static void seal_append(struct dbk_meta_header *header, uint32_t used, uint32_t bytes)
{
	uint32_t newer = (uint32_t)header->checksum[1] > (uint32_t)header->checksum[0] ? 1 : 0;
	uint32_t crc = (uint32_t)(header->checksum[newer] >> 32);

	if (used == DBK_META_DATA_OFFSET)
		crc = dbk_crc32c(0, &header->boot_id,
				 offsetof(struct dbk_meta_header, checksum) -
					 offsetof(struct dbk_meta_header, boot_id));
	crc = dbk_crc32c(crc, (const uint8_t *)header + used, bytes);
	dbk_store_relaxed(&header->checksum[newer ^ 1], (uint64_t)crc << 32 | (used + bytes));
}

void dbk_meta_block_commit(const struct dbk_pages *pages, uint32_t bytes)
{
	struct dbk_meta_header *header = pages->address;
	uint32_t used = header->committed_bytes;

	dbk_assert(used <= pages->bytes && bytes <= pages->bytes - used);
	if (is_checked(header->kind))
		seal_append(header, used, bytes);
	dbk_store_release(&header->committed_bytes, used + bytes);
}

bool dbk_meta_block_append(const struct dbk_pages *pages, const void *data, uint32_t bytes)
{
	struct dbk_meta_header *header = pages->address;
	uint32_t used = header->committed_bytes;

	dbk_assert(used <= pages->bytes);
	if (bytes > pages->bytes - used)
		return false;
	memcpy((uint8_t *)header + used, data, bytes);
	dbk_meta_block_commit(pages, bytes);
	return true;
}

/* Where the @index-th region lies, or is to lie: chunks double. */
static struct dbk_region **chunk_of(struct dbk_consumer *consumer, uint32_t index, uint32_t *at_ret)
{
	uint32_t chunk = 31u - (uint32_t)__builtin_clz(index / DBK_REGION_CHUNK + 1);

	*at_ret = index - DBK_REGION_CHUNK * ((1u << chunk) - 1);
	return chunk < DBK_REGION_CHUNKS ? &consumer->region_chunks[chunk] : NULL;
}

/* Room for one more region, or NULL. */
static struct dbk_region *next_region(struct dbk_consumer *consumer)
{
	struct dbk_region **chunk;
	uint32_t at;

	chunk = chunk_of(consumer, consumer->region_count, &at);
	if (chunk == NULL)
		return NULL;
	/* The chunks before this one hold one chunk's worth less than it does. */
	if (*chunk == NULL)
		*chunk = dbk_host_alloc((consumer->region_count + DBK_REGION_CHUNK) *
					sizeof(**chunk));
	return *chunk != NULL ? *chunk + at : NULL;
}

struct dbk_pages *dbk_region_add(struct dbk_consumer *consumer, uint32_t kind, uint32_t cpu,
				 uint32_t bytes, enum dbk_pages_from from)
{
	struct dbk_region *region = next_region(consumer);
	struct dbk_pages *pages;

	if (region == NULL)
		return NULL;
	pages = dbk_host_alloc(sizeof(*pages));
	if (pages == NULL)
		return NULL;
	if (!dbk_host_pages_alloc(bytes, from, cpu, pages)) {
		dbk_host_free(pages);
		return NULL;
	}
	pages->bytes = bytes;
	region->kind = kind;
	region->cpu = cpu == DBK_CPU_NONE ? 0 : cpu;
	region->pages = pages;
	dbk_store_release(&consumer->region_count, consumer->region_count + 1);
	return pages;
}

void dbk_regions_free(struct dbk_consumer *consumer)
{
	struct dbk_region region;
	uint32_t i;

	for (i = 0; dbk_consumer_region(consumer, i, &region); i++) {
		dbk_host_pages_free((struct dbk_pages *)region.pages);
		dbk_host_free((struct dbk_pages *)region.pages);
	}
	for (i = 0; i < DBK_REGION_CHUNKS; i++) {
		dbk_host_free(consumer->region_chunks[i]);
		consumer->region_chunks[i] = NULL;
	}
	consumer->region_count = 0;
}

bool dbk_consumer_region(const struct dbk_consumer *consumer, uint32_t index,
			 struct dbk_region *region_ret)
{
	struct dbk_region *const *chunk;
	uint32_t at;

	if (index >= dbk_consumer_region_count(consumer))
		return false;
	chunk = chunk_of((struct dbk_consumer *)consumer, index, &at);
	*region_ret = (*chunk)[at];
	return true;
}

uint32_t dbk_consumer_region_count(const struct dbk_consumer *consumer)
{
	return dbk_load_acquire(&consumer->region_count);
}

static struct dbk_pages *add_block(struct dbk_consumer *consumer, enum dbk_meta_kind kind,
				   uint32_t data_bytes, enum dbk_pages_from from)
{
	uint32_t bytes = (uint32_t)DBK_ROUND_UP(DBK_META_DATA_OFFSET + data_bytes, PAGE_BYTES);
	struct dbk_pages *pages;

	if (bytes > DBK_META_BLOCK_BYTES_MAX)
		return NULL;
	pages = dbk_region_add(consumer, 2 /* ioctl.h: DBK_REGION_META */, DBK_CPU_NONE, bytes,
			       from);
	if (pages != NULL)
		dbk_meta_block_init(pages, kind, consumer->engine->boot_id, consumer->ring_id);
	return pages;
}

static int create_ring(struct dbk_consumer *consumer, enum dbk_pages_from from)
{
	struct dbk_pages *pages =
		add_block(consumer, DBK_META_RING, (uint32_t)sizeof(struct dbk_meta_ring), from);
	struct dbk_meta_ring *ring;

	if (pages == NULL)
		return -ENOMEM;
	ring = (struct dbk_meta_ring *)((uint8_t *)pages->address + DBK_META_DATA_OFFSET);
	dbk_meta_block_append(pages, consumer->ring, (uint32_t)sizeof(*ring));
	dbk_host_free(consumer->ring);
	consumer->ring = ring; /* from now on the published one */
	return 0;
}

static int create_dof(struct dbk_consumer *consumer, enum dbk_pages_from from)
{
	const struct dbk_program *program = consumer->program;
	uint32_t part_bytes = DBK_META_BLOCK_BYTES_MAX - DBK_META_DATA_OFFSET;
	uint32_t parts = (program->image_bytes + part_bytes - 1) / part_bytes, i;

	for (i = 0; i < parts; i++) {
		uint32_t at = i * part_bytes, bytes = program->image_bytes - at;
		struct dbk_meta_header *header;
		struct dbk_pages *pages;

		if (bytes > part_bytes)
			bytes = part_bytes;
		pages = add_block(consumer, DBK_META_DOF, bytes, from);
		if (pages == NULL)
			return -ENOMEM;
		header = pages->address;
		header->part = (uint16_t)i;
		header->part_count = (uint16_t)parts;
		dbk_meta_block_append(pages, program->image + at, bytes);
	}
	return 0;
}

static int create_cpus(struct dbk_consumer *consumer, enum dbk_pages_from from)
{
	uint32_t count = consumer->engine->cpu_count, i;
	uint32_t bytes = count * (uint32_t)sizeof(struct dbk_meta_cpu);
	struct dbk_pages *pages = add_block(consumer, DBK_META_CPUS, bytes, from);
	struct dbk_meta_cpu *cpus;

	if (pages == NULL)
		return -ENOMEM;
	/* The pages are zero, and so are the counters. */
	cpus = (struct dbk_meta_cpu *)((uint8_t *)pages->address + DBK_META_DATA_OFFSET);
	((struct dbk_meta_header *)pages->address)->committed_bytes += bytes;
	for (i = 0; i < count; i++)
		consumer->buffers[i].counters = &cpus[i];
	return 0;
}

int dbk_meta_create(struct dbk_consumer *consumer, enum dbk_pages_from from,
		    struct dbk_reason *reason)
{
	int error = create_ring(consumer, from);

	if (error == 0)
		error = create_dof(consumer, from);
	if (error == 0)
		error = create_cpus(consumer, from);
	if (error != 0)
		return dbk_refuse(reason, error, "no memory for the ring's metadata");
	return 0;
}

/* Appends an entry to the last block of its kind, or to a new one. */
static int append(struct dbk_consumer *consumer, enum dbk_meta_kind kind, struct dbk_pages **block,
		  uint16_t *count, const void *entry, uint32_t bytes)
{
	/* The first is small: most enablings name few probes. */
	uint32_t block_bytes = *count == 0 ? LIST_BLOCK_MIN : LIST_BLOCK_BYTES, room;

	consumer->list_bytes += bytes;
	if (*block != NULL && dbk_meta_block_append(*block, entry, bytes))
		return 0;
	dbk_host_cpus_lock();
	do { /* memory in pieces has smaller ones */
		room = block_bytes - DBK_META_DATA_OFFSET;
		*block = add_block(consumer, kind, bytes > room ? bytes : room, DBK_PAGES_ANYWHERE);
		block_bytes /= 2;
	} while (*block == NULL && room > bytes && block_bytes >= PAGE_BYTES);
	dbk_host_cpus_unlock();
	if (*block == NULL)
		return -ENOMEM;
	((struct dbk_meta_header *)(*block)->address)->index = (*count)++;
	dbk_meta_block_append(*block, entry, bytes);
	return 0;
}

static uint16_t length_of(const char *name)
{
	uint16_t length = 0;

	while (name[length] != '\0')
		length++;
	return length;
}

static int add_probe(struct dbk_consumer *consumer, const struct dbk_probe *probe)
{
	const char *names[] = { probe->provider, probe->module, probe->function, probe->name };
	uint16_t lengths[4];
	uint32_t bytes = sizeof(struct dbk_meta_probe), i;
	struct dbk_meta_probe *entry;
	char *to;
	int error;

	for (i = 0; i < 4; i++)
		bytes += lengths[i] = length_of(names[i]);
	bytes = (uint32_t)DBK_ROUND_UP(bytes, 8);
	entry = dbk_host_alloc(bytes);
	if (entry == NULL)
		return -ENOMEM;
	entry->entry_bytes = bytes;
	entry->probe_id = probe->id;
	entry->provider_bytes = lengths[0];
	entry->module_bytes = lengths[1];
	entry->function_bytes = lengths[2];
	entry->name_bytes = lengths[3];
	for (i = 0, to = (char *)(entry + 1); i < 4; to += lengths[i++])
		memcpy(to, names[i], lengths[i]);
	error = append(consumer, DBK_META_PROBES, &consumer->probes_block, &consumer->probes_blocks,
		       entry, bytes);
	dbk_host_free(entry);
	return error;
}

static int add_ecb(struct dbk_consumer *consumer, const struct dbk_ecb *ecb)
{
	const struct dbk_plan *plan = ecb->plan;
	uint32_t fields_bytes = plan->field_count * (uint32_t)sizeof(struct dbk_meta_field);
	uint32_t bytes = (uint32_t)sizeof(struct dbk_meta_ecb) + fields_bytes;
	struct dbk_meta_ecb *entry = dbk_host_alloc(bytes);
	int error;

	if (entry == NULL)
		return -ENOMEM;
	entry->entry_bytes = bytes;
	entry->epid = ecb->epid;
	entry->probe_id = ecb->probe->id;
	entry->dof_index = 0;
	entry->field_count = (uint16_t)plan->field_count;
	entry->ecbdesc = plan->desc->section;
	entry->flags = (plan->variable ? DBK_ECB_F_VARIABLE : 0) |
		       (plan->has_record ? 0 : DBK_ECB_F_NO_RECORD) |
		       (plan->speculates ? DBK_ECB_F_SPECULATES : 0) |
		       (plan->native_way == DBK_NATIVE_WHOLE ? DBK_ECB_F_NATIVE : 0) |
		       (plan->native_way == DBK_NATIVE_VALUES ? DBK_ECB_F_NATIVE_VALUES : 0);
	entry->fixed_bytes = plan->fixed_bytes;
	if (plan->has_record)
		entry->classic_bytes =
			(uint32_t)DBK_ROUND_UP(plan->classic_bytes, plan->classic_align);
	if (fields_bytes != 0)
		memcpy(entry + 1, plan->fields, fields_bytes);
	error = append(consumer, DBK_META_ECBS, &consumer->ecbs_block, &consumer->ecbs_blocks,
		       entry, bytes);
	dbk_host_free(entry);
	return error;
}

int dbk_meta_add_ecb(struct dbk_consumer *consumer, const struct dbk_ecb *ecb, bool new_probe)
{
	int error = 0;

	/* The probe first: a reader of the ECB finds it. */
	if (new_probe)
		error = add_probe(consumer, ecb->probe);
	if (error == 0)
		error = add_ecb(consumer, ecb);
	return error;
}
