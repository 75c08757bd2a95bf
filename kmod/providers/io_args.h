/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * io_args.h - arg1 of the probes of provider io (formats/abi/io.h)
 */
#ifndef DBK_PROVIDERS_IO_ARGS_H
#define DBK_PROVIDERS_IO_ARGS_H

#include <linux/blkdev.h>
#include <linux/mm.h>

#include "engine/api/host.h"
#include "engine/api/platform.h"
#include "formats/abi/io.h"

/* Whether the inode of @mapping is a block device's. Drivers use that member of a page for their own, too: it may fault. */
static __probe_ctx_inline bool dbk_io_is_of_device(const struct address_space *mapping)
{
	struct inode *inode;
	umode_t mode;

	return dbk_host_load(&inode, (unsigned long)&mapping->host, sizeof(inode)) &&
	       dbk_host_load(&mode, (unsigned long)&inode->i_mode, sizeof(mode)) && S_ISBLK(mode);
}

/* Whether the page cache itself reads or writes @folio. A program's memory can be a file's pages as well, of another one
 * than a direct request is for: those are there already, and nothing writes them back. What a file system writes of a block
 * device is not always marked so, and nothing else is. */
static __probe_ctx_inline bool dbk_io_is_cached(struct folio *folio, const struct address_space *mapping,
						u32 operation)
{
	return (op_is_write(operation) ? folio_test_writeback(folio) : !folio_test_uptodate(folio)) ||
	       dbk_io_is_of_device(mapping);
}

/* Apart: a program's own memory, as most direct requests have it, is not to pay for it. A copy has the pages of another, and
 * may begin after their first. */
static noinline __probe_ctx void dbk_io_set_mapping(struct dbk_io *io, const struct address_space *mapping,
						    struct folio *folio, const struct page *page, u32 at,
						    struct bio *bio)
{
	if (bio && (bio_flagged(bio, BIO_CLONED) || !dbk_io_is_cached(folio, mapping, io->operation)))
		return;
	io->mapping = (unsigned long)mapping;
	io->file_offset = folio_pos(folio) + folio_page_idx(folio, page) * PAGE_SIZE + at;
}

/* Which file's page it is, of which @at is the first byte: of the page cache only. What the kernel allocates for itself is of
 * no file, and what is a program's of another: @bio may have such; NULL: a file system's own. */
static __probe_ctx_inline void dbk_io_set_page(struct dbk_io *io, struct page *page, u32 at, struct bio *bio)
{
	struct folio *folio = page_folio(page);
	const struct address_space *mapping = READ_ONCE(folio->mapping);

	io->mapping = 0;
	if (!folio_test_slab(folio) && mapping && !((unsigned long)mapping & PAGE_MAPPING_FLAGS))
		dbk_io_set_mapping(io, mapping, folio, page, at, bio);
}

static __probe_ctx_inline void dbk_io_set_device(struct dbk_io *io,
						 const struct block_device *device)
{
	io->disk_name = (unsigned long)device->bd_disk->disk_name;
	io->device_name = (unsigned long)device->bd_device.kobj.name;
	io->device = device->bd_dev;
}

/* All but where it is, how long, and what became of it. */
static __probe_ctx_inline void dbk_io_set_bio(struct dbk_io *io, struct bio *bio)
{
	io->bio = (unsigned long)bio;
	dbk_io_set_device(io, bio->bi_bdev);
	io->operation = bio->bi_opf;
	io->is_buffer = false;
	/* Without: nothing to transfer. */
	if (bio->bi_vcnt)
		dbk_io_set_page(io, bio->bi_io_vec[0].bv_page, bio->bi_io_vec[0].bv_offset, bio);
	else
		io->mapping = 0;
}

#endif /* DBK_PROVIDERS_IO_ARGS_H */
