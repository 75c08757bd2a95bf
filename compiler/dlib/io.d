/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider io: requests to block devices, as bufinfo_t, and their devices, as devinfo_t.  Which file a request is
 * for, a bio does not say: fileinfo_t has the names that stand for that.
 */

/* formats/abi/io.h */
typedef struct dbk_io {
	uint64_t bio;
	uint64_t sector;
	uint64_t bytes;
	uint64_t left_bytes;
	char *disk_name;
	uint32_t device;
	uint32_t operation;
	uint32_t error;
	uint32_t reserved;
} dbk_io_t;

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

translator bufinfo_t < dbk_io_t *I > {
	b_flags = (I->operation & 1) ? B_WRITE : B_READ;
	b_bcount = I->bytes;
	b_addr = (uintptr_t)I->bio;
	b_lblkno = I->sector;
	b_blkno = I->sector;
	b_resid = I->left_bytes;
	b_bufsize = I->bytes;
	b_error = I->error;
	b_edev = I->device;
};

/* A dev_t has 20 bits of minor number. */
translator devinfo_t < dbk_io_t *I > {
	dev_major = I->device >> 20;
	dev_minor = I->device & 0xfffff;
	dev_instance = 0;
	dev_name = stringof(I->disk_name);
	dev_statname = stringof(I->disk_name);
	dev_pathname = stringof(I->disk_name);
};

translator fileinfo_t < dbk_io_t *I > {
	fi_name = "<none>";
	fi_dirname = "<none>";
	fi_pathname = "<none>";
	fi_offset = 0;
	fi_fs = "<none>";
	fi_mount = "<none>";
	fi_oflags = 0;
};

provider io {
	probe start(struct bio *B, dbk_io_t *I) : (bufinfo_t *I, devinfo_t *I, fileinfo_t *I);
	probe done(struct bio *B, dbk_io_t *I) : (bufinfo_t *I, devinfo_t *I, fileinfo_t *I);
};
