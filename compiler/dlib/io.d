/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider io: requests to block devices, as bufinfo_t, and their devices, as devinfo_t.  Which file a request is
 * for, a bio does not say: fileinfo_t has the names that stand for that.
 */

/* b_flags: include/linux/blk_types.h numbers a read 0 and a write 1. */
inline int B_WRITE = 0x000100;
inline int B_READ = 0x000040;

typedef struct bufinfo {
	int b_flags;			/* B_READ or B_WRITE */
	size_t b_bcount;		/* bytes */
	uintptr_t b_addr;		/* of the bio */
	uint64_t b_lblkno;		/* sector on the device */
	uint64_t b_blkno;
	size_t b_resid;
	size_t b_bufsize;
	int b_error;			/* blk_status_t, 0 when all is well */
	uint32_t b_edev;		/* dev_t */
} bufinfo_t;

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;
	string dev_name;		/* of the whole disk: sda */
	string dev_statname;
	string dev_pathname;
} devinfo_t;

typedef struct fileinfo {
	string fi_name;
	string fi_dirname;
	string fi_pathname;
	int64_t fi_offset;
	string fi_fs;
	string fi_mount;
	int fi_oflags;
} fileinfo_t;

translator bufinfo_t < struct bio *B > {
	b_flags = (B->bi_opf & 1) ? B_WRITE : B_READ;
	b_bcount = B->bi_iter.bi_size;
	b_addr = (uintptr_t)B;
	b_lblkno = B->bi_iter.bi_sector;
	b_blkno = B->bi_iter.bi_sector;
	b_resid = 0;
	b_bufsize = B->bi_iter.bi_size;
	b_error = B->bi_status;
	b_edev = B->bi_bdev->bd_dev;
};

/* A dev_t has 20 bits of minor number. */
translator devinfo_t < struct bio *B > {
	dev_major = B->bi_bdev->bd_dev >> 20;
	dev_minor = B->bi_bdev->bd_dev & 0xfffff;
	dev_instance = 0;
	dev_name = B->bi_bdev->bd_disk->disk_name;
	dev_statname = B->bi_bdev->bd_disk->disk_name;
	dev_pathname = B->bi_bdev->bd_disk->disk_name;
};

translator fileinfo_t < struct bio *B > {
	fi_name = "<none>";
	fi_dirname = "<none>";
	fi_pathname = "<none>";
	fi_offset = 0;
	fi_fs = "<none>";
	fi_mount = "<none>";
	fi_oflags = 0;
};

provider io {
	probe start(struct bio *B) : (bufinfo_t *B, devinfo_t *B, fileinfo_t *B);
	probe done(struct bio *B) : (bufinfo_t *B, devinfo_t *B, fileinfo_t *B);
};
