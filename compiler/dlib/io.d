/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provider io: requests to block devices, as bufinfo_t, and their devices, as devinfo_t.  fileinfo_t has the last part
 * of a file's name if the request is for pages of the page cache: a bio has no more.
 */

/* formats/abi/io.h */
typedef struct dbk_io {
	uint64_t bio;			/* or buffer_head, if is_buffer */
	uint64_t sector;
	uint64_t bytes;
	uint64_t left_bytes;
	char *disk_name;
	uint32_t device;
	uint32_t operation;
	uint32_t error;
	uint32_t is_buffer;
	struct address_space *mapping;
	char *device_name;
	uint64_t file_offset;
} dbk_io_t;

/* b_flags; B_BUSY, B_DONE and B_PHYS are not known of a bio. */
inline int B_ERROR = 0x000004;		/* it failed */
inline int B_PAGEIO = 0x000010;		/* to or from the page cache */
inline int B_READ = 0x000040;
inline int B_WRITE = 0x000100;		/* also a discard */
inline int B_ASYNC = 0x000400;		/* its submitter does not wait for it */

typedef struct bufinfo {
	int b_flags;			/* B_READ or B_WRITE, with others */
	size_t b_bcount;		/* bytes that were asked for */
	uintptr_t b_addr;		/* address of the struct bio; of a block that is waited for, struct buffer_head */
	uint64_t b_lblkno;		/* where it begins on the whole disk, in sectors of 512 bytes */
	uint64_t b_blkno;		/* the same */
	size_t b_resid;			/* done: bytes that were not transferred */
	size_t b_bufsize;		/* the same as b_bcount */
	uintptr_t b_iodone;		/* function that is called at the end */
	int b_error;			/* blk_status_t, 0 when all is well */
	uint32_t b_edev;		/* dev_t of the device */
} bufinfo_t;

typedef struct devinfo {
	int dev_major;			/* of the device: a partition or a whole disk */
	int dev_minor;			/* minor number */
	int dev_instance;		/* always 0 */
	string dev_name;		/* of its driver, as in /proc/devices: sd; blkext: one without a number of its own (nvme) */
	string dev_statname;		/* of the device: sda1 */
	string dev_pathname;		/* /dev/sda1 */
} devinfo_t;

typedef struct fileinfo {
	string fi_name;			/* last part of the path */
	string fi_dirname;		/* what comes before it */
	string fi_pathname;		/* the whole path */
	int64_t fi_offset;		/* bytes; of a request, of its first page; 0 without a file */
	string fi_fs;			/* kind of file system: ext4 */
	string fi_mount;		/* always <none>: by which mount it is reached is not known */
	int fi_oflags;			/* O_ flags of open(2); 0 of a request to a device */
} fileinfo_t;

/*
 * include/linux/blk_types.h: writes and discards are odd.  Bits 11, 17, 18 and 19 are REQ_SYNC, FUA, PREFLUSH and RAHEAD: a
 * write is synchronous with one of the first three, a read unless it is the last.
 */
translator bufinfo_t < dbk_io_t *I > {
	b_flags = ((I->operation & 1) ? B_WRITE | ((I->operation & 0x60800) ? 0 : B_ASYNC) :
	    B_READ | ((I->operation & 0x80000) ? B_ASYNC : 0)) |
	    (I->mapping != NULL ? B_PAGEIO : 0) | (I->error ? B_ERROR : 0);
	b_bcount = I->bytes;
	b_addr = (uintptr_t)I->bio;
	b_lblkno = I->sector;
	b_blkno = I->sector;
	b_resid = I->left_bytes;
	b_bufsize = I->bytes;
	b_iodone = I->is_buffer ? (uintptr_t)((struct buffer_head *)I->bio)->b_end_io :
	    (uintptr_t)((struct bio *)I->bio)->bi_end_io;
	b_error = I->error;
	b_edev = I->device;
};

/* Drivers by the whole disk's major number, as they register: 255 lists.  One whose name is the third of its list is not found. */
inline struct blk_major_name *io_drivers[uint32_t N] = ((struct blk_major_name **)&`major_names)[N % 255];
inline string io_driver[uint32_t N] = io_drivers[N] == NULL ? "<unknown>" :
    io_drivers[N]->major == N ? stringof(io_drivers[N]->name) :
    io_drivers[N]->next != NULL && io_drivers[N]->next->major == N ? stringof(io_drivers[N]->next->name) : "<unknown>";

/* A dev_t has 20 bits of minor number. */
translator devinfo_t < dbk_io_t *I > {
	dev_major = I->device >> 20;
	dev_minor = I->device & 0xfffff;
	dev_instance = 0;
	dev_name = io_driver[((struct gendisk *)(I->disk_name - offsetof(struct gendisk, disk_name)))->major];
	dev_statname = stringof(I->device_name);
	dev_pathname = strjoin("/dev/", stringof(I->device_name));
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
	fi_offset = io_entry[I->mapping] == NULL ? 0 : I->file_offset;
	fi_fs = io_entry[I->mapping] == NULL ? "<none>" : stringof(io_entry[I->mapping]->d_sb->s_type->name);
	fi_mount = "<none>";
	fi_oflags = 0;
};

provider io {
	probe start(struct bio *B, dbk_io_t *I) : (bufinfo_t *I, devinfo_t *I, fileinfo_t *I);
	probe done(struct bio *B, dbk_io_t *I) : (bufinfo_t *I, devinfo_t *I, fileinfo_t *I);
	probe wait__start(uintptr_t B, dbk_io_t *I) : (bufinfo_t *I, devinfo_t *I, fileinfo_t *I);
	probe wait__done(uintptr_t B, dbk_io_t *I) : (bufinfo_t *I, devinfo_t *I, fileinfo_t *I);
};
