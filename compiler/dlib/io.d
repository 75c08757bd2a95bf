/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider io: requests to block devices, as bufinfo_t, and their devices, as devinfo_t.  fileinfo_t has the last part
 * of a file's name if the request is for pages of the page cache: a bio has no more.
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
	struct address_space *mapping;
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

/* One of the file's names. A block device, which since 6.9 has an empty one, is not a file. */
inline struct dentry *io_entry[struct address_space *M] =
    M == NULL || M->host == NULL || (M->host->i_mode & 0170000) == 0060000 || M->host->i_dentry.first == NULL ?
    (struct dentry *)NULL :
    (struct dentry *)((char *)M->host->i_dentry.first - offsetof(struct dentry, d_u));

translator fileinfo_t < dbk_io_t *I > {
	fi_name = io_entry[I->mapping] == NULL ? "<none>" : stringof(io_entry[I->mapping]->d_name.name);
	fi_dirname = io_entry[I->mapping] == NULL ? "<none>" : "<unknown>";
	fi_pathname = io_entry[I->mapping] == NULL ? "<none>" : "<unknown>";
	fi_offset = 0;
	fi_fs = io_entry[I->mapping] == NULL ? "<none>" : stringof(io_entry[I->mapping]->d_sb->s_type->name);
	fi_mount = "<none>";
	fi_oflags = 0;
};

provider io {
	probe start(struct bio *B, dbk_io_t *I) : (bufinfo_t *I, devinfo_t *I, fileinfo_t *I);
	probe done(struct bio *B, dbk_io_t *I) : (bufinfo_t *I, devinfo_t *I, fileinfo_t *I);
};
