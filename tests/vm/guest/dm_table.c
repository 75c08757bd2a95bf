// SPDX-License-Identifier: Apache-2.0
//
// dm_table DEVICE TARGET PARAMETERS: puts a device-mapper device over the whole of DEVICE, or gives the
// one that is there another table.  Its node is /dev/dm-0.
//
//     dm_table /dev/vda linear '/dev/vda 0'
//     dm_table /dev/vda flakey '/dev/vda 0 0 86400 1 error_writes'     from now on writes fail
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CONTROL_MAJOR 10
#define CONTROL_MINOR 236 /* MAPPER_CTRL_MINOR */
#define SECTOR_BYTES  512

static struct {
	struct dm_ioctl head;
	struct dm_target_spec target;
	char parameters[256];
} request;

static int call(int control, unsigned long command, uint32_t flags, uint32_t targets)
{
	struct dm_ioctl *head = &request.head;

	memset(head, 0, sizeof(*head));
	head->version[0] = DM_VERSION_MAJOR;
	head->data_size = sizeof(request);
	head->data_start = sizeof(*head);
	head->flags = flags;
	head->target_count = targets;
	strcpy(head->name, "disk");
	return ioctl(control, command, &request);
}

static int fail(const char *what)
{
	fprintf(stderr, "dm_table: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t bytes = 0;
	int control, disk;

	if (argc != 4)
		return 2;
	mkdir("/dev/mapper", 0755);
	mknod("/dev/mapper/control", S_IFCHR | 0600, makedev(CONTROL_MAJOR, CONTROL_MINOR));
	control = open("/dev/mapper/control", O_RDWR);
	disk = open(argv[1], O_RDONLY);
	if (control < 0 || disk < 0 || ioctl(disk, BLKGETSIZE64, &bytes) != 0)
		return fail(argv[1]);
	close(disk);
	if (call(control, DM_DEV_CREATE, 0, 0) != 0 && errno != EBUSY)
		return fail("create");
	request.target.length = bytes / SECTOR_BYTES;
	snprintf(request.target.target_type, sizeof(request.target.target_type), "%s", argv[2]);
	snprintf(request.parameters, sizeof(request.parameters), "%s", argv[3]);
	if (call(control, DM_TABLE_LOAD, 0, 1) != 0)
		return fail("load");
	/* What is under way when the table changes goes by the old one; nothing is flushed for it. */
	if (call(control, DM_DEV_SUSPEND, DM_SUSPEND_FLAG | DM_SKIP_LOCKFS_FLAG | DM_NOFLUSH_FLAG, 0) != 0)
		return fail("suspend");
	if (call(control, DM_DEV_SUSPEND, 0, 0) != 0)
		return fail("resume");
	return 0;
}
