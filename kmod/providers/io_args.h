/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * io_args.h - arg1 of the probes of provider io (formats/abi/io.h)
 */
#ifndef DBK_PROVIDERS_IO_ARGS_H
#define DBK_PROVIDERS_IO_ARGS_H

#include <linux/blkdev.h>
#include <linux/mm.h>

#include "engine/api/platform.h"
#include "formats/abi/io.h"

/* Which file's page it is, of which @at is the first byte: of the page cache only. A program's own memory and what the
 * kernel allocates for itself are of no file. */
static __probe_ctx_inline void dbk_io_set_page(struct dbk_io *io, struct page *page, u32 at)
{
	struct folio *folio = page_folio(page);

	io->mapping = 0;
	if (folio_test_slab(folio) || (unsigned long)folio->mapping & PAGE_MAPPING_FLAGS)
		return;
	io->mapping = (unsigned long)folio->mapping;
	io->file_offset = folio_pos(folio) + folio_page_idx(folio, page) * PAGE_SIZE + at;
}

static __probe_ctx_inline void dbk_io_set_device(struct dbk_io *io,
						 const struct block_device *device)
{
	io->disk_name = (unsigned long)device->bd_disk->disk_name;
	io->device_name = (unsigned long)device->bd_device.kobj.name;
	io->device = device->bd_dev;
}

/* All but where it is, how long, and what became of it. */
static __probe_ctx_inline void dbk_io_set_bio(struct dbk_io *io, const struct bio *bio)
{
	io->bio = (unsigned long)bio;
	dbk_io_set_device(io, bio->bi_bdev);
	io->operation = bio->bi_opf;
	io->is_buffer = false;
	/* Without: nothing to transfer, or a copy that has the pages of another. */
	if (bio->bi_vcnt)
		dbk_io_set_page(io, bio->bi_io_vec[0].bv_page, bio->bi_io_vec[0].bv_offset);
	else
		io->mapping = 0;
}

#endif /* DBK_PROVIDERS_IO_ARGS_H */
