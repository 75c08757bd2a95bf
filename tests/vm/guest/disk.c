// SPDX-License-Identifier: Apache-2.0
//
// disk DEVICE [partition|loop]: asks a disk for every kind of request: reads and writes that are merged, that are split,
// that are flushed, discards; with "partition" through a partition, which it makes, of the disk's second half. With "loop"
// only through the page cache of a loop device, which itself reads and writes directly.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK (4u << 20) /* more than any disk takes at once */

static char *block;
static const char *path;

static void need(const char *what, int holds)
{
	if (!holds) {
		fprintf(stderr, "disk: %s of %s: ", what, path);
		perror("");
		exit(1);
	}
}

static int open_with(int flags)
{
	int disk = open(path, O_RDWR | flags);

	need("open", disk >= 0);
	return disk;
}

/* As it lies in the page cache: 4 KiB at a time, which the kernel merges. */
static void through_cache(void)
{
	int disk = open_with(0);

	for (unsigned at = 0; at < BLOCK; at += 4096)
		need("write", pwrite(disk, block, 4096, at) == 4096);
	need("fsync", fsync(disk) == 0);
	need("fadvise", posix_fadvise(disk, 0, 0, POSIX_FADV_DONTNEED) == 0);
	need("read", pread(disk, block, BLOCK, 0) == BLOCK);
	close(disk);
}

/* In one piece, which the kernel splits; then written through, which a disk that cannot do is made to flush. */
static void around_cache(void)
{
	int disk = open_with(O_DIRECT);

	need("direct read", pread(disk, block, BLOCK, BLOCK) == BLOCK);
	need("direct write", pwrite(disk, block, BLOCK, BLOCK) == BLOCK);
	close(disk);
	disk = open_with(O_DIRECT | O_DSYNC);
	need("write through", pwrite(disk, block, 65536, 0) == 65536);
	need("long write through", pwrite(disk, block, BLOCK, BLOCK) == BLOCK);
	close(disk);
}

/* The program's memory is a file's: the requests are not for that file. */
static void with_a_files_memory(void)
{
	const size_t bytes = 128 << 10;
	int file = open("/tmp/a-files-memory", O_RDWR | O_CREAT | O_TRUNC, 0600), disk = open_with(O_DIRECT);
	char *memory;

	need("file", file >= 0 && ftruncate(file, bytes) == 0);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	need("map", memory != MAP_FAILED);
	need("direct read into it", pread(disk, memory, bytes, BLOCK) == (ssize_t)bytes);
	need("direct write from it", pwrite(disk, memory, bytes, BLOCK) == (ssize_t)bytes);
	munmap(memory, bytes);
	close(file);
	close(disk);
}

static void discard(void)
{
	uint64_t range[2] = { 2 * BLOCK, BLOCK };
	int disk = open_with(0);

	/* Not every disk can. */
	ioctl(disk, BLKDISCARD, range);
	need("zeroout", ioctl(disk, BLKZEROOUT, range) == 0);
	close(disk);
}

static void make_partition(void)
{
	struct blkpg_partition partition = { .start = 32 << 20, .length = 32 << 20, .pno = 1 };
	struct blkpg_ioctl_arg argument = { BLKPG_ADD_PARTITION, 0, sizeof(partition), &partition };
	static char name[64];
	int disk = open_with(0);
	size_t length = strlen(path);

	need("partition", ioctl(disk, BLKPG, &argument) == 0);
	close(disk);
	snprintf(name, sizeof(name), "%s%s1", path, path[length - 1] >= '0' && path[length - 1] <= '9' ? "p" : "");
	path = name;
}

/* A loop device hands the pages that it is asked to read and write on to its own disk. */
static void without_a_cache_below(void)
{
	int disk = open_with(0);

	need("direct I/O of the loop device", ioctl(disk, LOOP_SET_DIRECT_IO, 1ul) == 0);
	close(disk);
	through_cache();
}

int main(int argc, char **argv)
{
	path = argc > 1 ? argv[1] : "";
	need("memory", posix_memalign((void **)&block, 4096, BLOCK) == 0);
	memset(block, 'x', BLOCK);
	if (argc > 2 && strcmp(argv[2], "loop") == 0) {
		without_a_cache_below();
		return 0;
	}
	if (argc > 2)
		make_partition();
	through_cache();
	around_cache();
	with_a_files_memory();
	discard();
	return 0;
}
