// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.c - provider io: requests to block devices (docs/design/0035-the-end-of-a-bio.md)
 *
 *   start  a bio is about to be handed to its device   arg0: the struct bio
 *   done   it has ended                                arg0: the struct bio
 *
 * arg1 of both is a struct dbk_io, what the D translators read.  A bio to a device that is made of
 * others (md, dm) is one of its own for each.
 *
 * The kernel marks a bio whose start it traced (BIO_TRACE_COMPLETION), and reports its end once:
 * block_bio_complete for a device that takes bios, block_rq_complete for the request that it
 * became part of, after which the mark is gone.  That is the bio's end unless
 *
 *   it was split                     each part ends by itself, the bio with the last of them
 *   a flush comes after its data     the request is reported for the data and again at its end
 *   the device did only a part       the request is reported again for the rest
 *
 * Such bios are noted, with what they were before the kernel advanced them, until they end.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hash.h>
#include <trace/events/block.h>

#include "kmod/kernel/symbols.h"
#include "kmod/providers/io_args.h"
#include "kmod/providers/site.h"

enum { QUEUE, SPLIT, COMPLETE, REQUEST, SITES };
enum { START, DONE, PROBES };

static struct dbk_site_probe probes[PROBES] = {
	[START] = { "start", QUEUE, 2 },
	[DONE] = { "done", REQUEST, 2, .also = BIT(QUEUE) | BIT(SPLIT) | BIT(COMPLETE) },
};

/* A bio that ends in several steps.  Only its submitter and, later, its completions look at it. */
struct note {
	atomic_t parts;	       /* that have not ended */
	atomic_t failed_bytes; /* of those that have */
	u32 error;	       /* of one of them */
	u32 bytes;
	u64 sector;
};

/* 1024: bios of that kind under way at once. */
#define NOTE_BITS 10
#define NOTES	  (1u << NOTE_BITS)
/* The slots that a bio may lie in are 4 lines of cache, 32 slots: with 1000 under way nearly each
 * finds one. */
#define NOTE_LINE (SMP_CACHE_BYTES / sizeof(struct bio *))
#define NOTE_WALK (4 * NOTE_LINE)

/* By slot, and apart: every bio that ends while others are noted is looked for in them. */
static struct bio *note_bios[NOTES] __cacheline_aligned; /* atomic; NULL: free */
static struct note notes[NOTES];
/* How many, or more for a moment: with none, as usual, no bio is looked for. */
static atomic_t noted;
static bio_end_io_t *chain_end; /* [C] the end of a part, NULL: not known */

/* The slot of a bio, or (@wanted NULL) one that is free; NOTES: none. */
static __probe_ctx u32 slot_find(struct bio *bio, struct bio *wanted)
{
	u32 first = hash_ptr(bio, NOTE_BITS) & ~(NOTE_LINE - 1);
	u32 i;

	for (i = 0; i < NOTE_WALK; i++) {
		u32 slot = (first + i) % NOTES;

		if (READ_ONCE(note_bios[slot]) == wanted)
			return slot;
	}
	return NOTES;
}

/* NULL: no room.  Then done has the bio's last part alone, and one firing of it was missed. */
static __probe_ctx struct note *note_make(struct bio *bio, int parts, u64 sector, u32 bytes)
{
	struct note *note;
	u32 slot;

	atomic_inc(&noted); /* before the note is there: no bio's is overlooked */
	do {
		slot = slot_find(bio, NULL);
	} while (slot != NOTES && cmpxchg(&note_bios[slot], NULL, bio) != NULL);
	if (slot == NOTES) {
		atomic_dec(&noted);
		if (dbk_probe_is_enabled(&probes[DONE].probe))
			dbk_probe_missed(&probes[DONE].probe, 1);
		return NULL;
	}
	note = &notes[slot];
	note->sector = sector;
	note->bytes = bytes;
	note->error = 0;
	atomic_set(&note->failed_bytes, 0);
	atomic_set(&note->parts, parts);
	return note;
}

/* @io has what is not the bio's by itself. */
static __probe_ctx_inline void fire(struct dbk_site *site, struct dbk_site_probe *probe,
				    struct bio *bio, struct dbk_io *io)
{
	u64 args[] = { (unsigned long)bio, (unsigned long)io };

	dbk_io_set_bio(io, bio);
	dbk_site_fire(site, probe, args);
}

static __probe_ctx void note_free(struct note *note)
{
	smp_store_release(&note_bios[note - notes], NULL);
	atomic_dec(&noted);
}

/* The note of a bio, whose submitter or part before it made it, if there is one. */
static __probe_ctx_inline struct note *note_of(struct bio *bio)
{
	u32 slot = unlikely(atomic_read(&noted) != 0) ? slot_find(bio, bio) : NOTES;

	return slot != NOTES ? &notes[slot] : NULL;
}

/* The bio that @bio was split off from, or itself. */
static __probe_ctx_inline struct bio *whole_of(struct bio *bio)
{
	bool is_part = bio_flagged(bio, BIO_CLONED) && chain_end && bio->bi_end_io == chain_end;

	return is_part ? bio->bi_private : bio;
}

/* @bytes of @bio were done, and with them the bio itself if @ends. */
static __probe_ctx void done(struct dbk_site *site, struct bio *bio, u32 bytes, bool ends,
			     blk_status_t error)
{
	struct bio *whole = whole_of(bio);
	struct note *note = note_of(whole);
	struct dbk_io io = {
		.sector = bio->bi_iter.bi_sector,
		.bytes = bio->bi_iter.bi_size,
		.left_bytes = error ? bio->bi_iter.bi_size : 0,
		.error = (__force u8)error,
	};

	if (!note) {
		if (!bio_flagged(bio, BIO_TRACE_COMPLETION) || whole != bio)
			return;
		if (!ends)
			note = note_make(bio, 1, io.sector, io.bytes);
		if (!note) {
			fire(site, &probes[DONE], bio, &io);
			return;
		}
	}
	if (error) {
		WRITE_ONCE(note->error, (__force u8)error);
		atomic_add(bytes, &note->failed_bytes);
	}
	if (!ends || !atomic_dec_and_test(&note->parts))
		return;
	io.sector = note->sector;
	io.bytes = note->bytes;
	io.error = note->error;
	io.left_bytes = atomic_read(&note->failed_bytes);
	note_free(note);
	fire(site, &probes[DONE], whole, &io);
}

static __probe_ctx void on_queue(void *site, struct bio *bio)
{
	struct note *stale = note_of(bio);
	struct dbk_io io __dbk_unset; /* member by member: a structure of zeros first costs as much
					 as them all */

	io.sector = bio->bi_iter.bi_sector;
	io.bytes = bio->bi_iter.bi_size;
	io.left_bytes = 0;
	io.error = 0;
	/* An earlier bio at that address, whose end was not seen. */
	if (unlikely(stale))
		note_free(stale);
	fire(site, &probes[START], bio, &io);
}

/* Before the part is handed to the device. */
static __probe_ctx void on_split(void *site, struct bio *part, unsigned int new_sector)
{
	struct bio *whole = whole_of(part);
	struct note *note = note_of(whole);

	if (whole == part || !bio_flagged(whole, BIO_TRACE_COMPLETION))
		return;
	if (note)
		atomic_inc(&note->parts);
	else
		note_make(whole, 2, part->bi_iter.bi_sector,
			  part->bi_iter.bi_size + whole->bi_iter.bi_size);
}

static __probe_ctx void on_complete(void *site, struct request_queue *queue, struct bio *bio)
{
	done(site, bio, bio->bi_iter.bi_size, true, bio->bi_status);
}

/* What blk_update_request() is about to do to the request's bios. */
static __probe_ctx void on_request(void *site, struct request *request, blk_status_t error,
				   unsigned int bytes)
{
	bool flush_follows = request->rq_flags & RQF_FLUSH_SEQ;
	struct bio *bio;

	for (bio = request->bio; bio; bio = bio->bi_next) {
		u32 size = bio->bi_iter.bi_size;
		u32 part = min(size, bytes);

		done(site, bio, part, part == size && !flush_follows, error);
		bytes -= part;
		if (bytes == 0)
			break;
	}
}

static struct dbk_site sites[SITES] = {
	[QUEUE] = { "block_bio_queue", on_queue },
	[SPLIT] = { "block_split", on_split },
	[COMPLETE] = { "block_bio_complete", on_complete },
	[REQUEST] = { "block_rq_complete", on_request },
};

/* Before any of them is hooked. */
static void io_reset(void)
{
	/* The kernel declares these, and a kernel with other arguments does not build. */
	check_trace_callback_type_block_bio_queue(on_queue);
	check_trace_callback_type_block_split(on_split);
	check_trace_callback_type_block_bio_complete(on_complete);
	check_trace_callback_type_block_rq_complete(on_request);
	chain_end = (bio_end_io_t *)dbk_symbol("bio_chain_endio");
	memset(note_bios, 0, sizeof(note_bios));
	atomic_set(&noted, 0);
}

static const struct dbk_site_provider io = {
	.provider = &dbk_provider_io,
	.sites = sites,
	.probes = probes,
	.site_count = SITES,
	.probe_count = PROBES,
	.reset = io_reset,
	.reset_sites = BIT(SITES) - 1,
};

DBK_SITE_PROVIDER(io, "io");
