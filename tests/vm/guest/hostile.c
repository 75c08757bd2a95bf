// SPDX-License-Identifier: Apache-2.0
//
// hostile SEED COUNT FILE.dof...: damages programs and gives them to the running kernel.
//
// Each try takes one of the files, changes it (bits, bytes, numbers, section headers, its length)
// and asks the module to enable it.  A refusal must come with a reason; what is accepted runs for a
// moment and is ended.  Prints one line:
//
//   hostile: R refused, A accepted, U unexplained, last reason: TEXT
#include "formats/abi/dof.h"
#include "formats/abi/ioctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 16

struct image {
	uint8_t *bytes;
	size_t length;
};

struct tally {
	unsigned refused, accepted, unexplained;
	char reason[DBK_REASON_BYTES];
};

static uint64_t random_state;

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static size_t random_below(size_t bound)
{
	return bound ? random_u64() % bound : 0;
}

static uint64_t nasty_number(void)
{
	static const uint64_t numbers[] = { 0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0xffff, 0x10000, 0x7fffffff,
		0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, ~0ull };

	return random_below(4) ? numbers[random_below(sizeof(numbers) / sizeof(numbers[0]))] : random_u64();
}

static void put(struct image *image, size_t offset, uint64_t value, size_t width)
{
	if (offset + width <= image->length)
		memcpy(image->bytes + offset, &value, width);
}

// A field of a section's header: where the table lies is known, what is in it is made up.
static void damage_section(struct image *image)
{
	struct dof_header header;
	size_t section;

	if (image->length < sizeof(header))
		return;
	memcpy(&header, image->bytes, sizeof(header));
	section = header.section_offset + random_below(header.section_count) * sizeof(struct dof_section);
	if (random_below(2))
		put(image, section + 4 * random_below(4), nasty_number(), 4);
	else
		put(image, section + 16 + 8 * random_below(2), nasty_number(), 8);
}

static void damage(struct image *image)
{
	size_t at = random_below(image->length), rounds = 1 + random_below(4);

	switch (random_below(7)) {
	case 0:
		for (size_t i = 0; i < rounds; i++)
			image->bytes[random_below(image->length)] ^= 1u << random_below(8);
		break;
	case 1:
		for (size_t i = 0; i < rounds; i++)
			image->bytes[random_below(image->length)] = random_u64();
		break;
	case 2:
		put(image, at & ~3ul, nasty_number(), 4);
		break;
	case 3:
		put(image, at & ~7ul, nasty_number(), 8);
		break;
	case 4:
		image->length = at;
		break;
	case 5: { /* a piece of it over another piece */
		size_t bytes = random_below(64), from = random_below(image->length);

		if (from + bytes <= image->length && at + bytes <= image->length)
			memmove(image->bytes + at, image->bytes + from, bytes);
		break;
	}
	default:
		for (size_t i = 0; i < rounds; i++)
			damage_section(image);
	}
}

static void try_to_enable(const struct image *image, struct tally *tally)
{
	struct dbk_ioc_enable enable = { .dof = (uintptr_t)image->bytes, .dof_bytes = image->length };
	int fd = open(DBK_DEVICE_PATH, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		perror(DBK_DEVICE_PATH);
		exit(1);
	}
	// Now and then the call itself is wrong.
	if (!random_below(50))
		enable.dof = nasty_number();
	if (!random_below(50))
		enable.dof_bytes = nasty_number();
	if (ioctl(fd, DBK_IOC_ENABLE, &enable) == 0) {
		struct dbk_ioc_ring ring = { .ring_id = enable.ring_id };

		tally->accepted++;
		usleep(2000);
		ioctl(fd, DBK_IOC_STOP, &ring);
	} else {
		tally->refused++;
		enable.reason[DBK_REASON_BYTES - 1] = '\0';
		if (enable.reason[0])
			strcpy(tally->reason, enable.reason);
		else if (errno != EFAULT)
			tally->unexplained++;
	}
	close(fd);
}

static struct image read_image(const char *path)
{
	struct image image = { 0 };
	struct stat stat_buffer;
	int fd = open(path, O_RDONLY);

	if (fd >= 0 && fstat(fd, &stat_buffer) == 0 && stat_buffer.st_size > 0)
		image.bytes = malloc(stat_buffer.st_size);
	if (image.bytes && read(fd, image.bytes, stat_buffer.st_size) == stat_buffer.st_size)
		image.length = stat_buffer.st_size;
	if (!image.length) {
		fprintf(stderr, "hostile: cannot read %s\n", path);
		exit(1);
	}
	close(fd);
	return image;
}

int main(int argc, char **argv)
{
	struct image originals[FILES_MAX];
	struct tally tally = { .reason = "none" };
	int file_count = argc - 3;
	long count;

	if (file_count < 1 || file_count > FILES_MAX) {
		fprintf(stderr, "usage: hostile SEED COUNT FILE.dof...\n");
		return 2;
	}
	random_state = strtoull(argv[1], NULL, 0) | 1;
	count = atol(argv[2]);
	for (int i = 0; i < file_count; i++)
		originals[i] = read_image(argv[3 + i]);
	for (long i = 0; i < count; i++) {
		const struct image *original = &originals[random_below(file_count)];
		struct image image = { malloc(original->length), original->length };

		memcpy(image.bytes, original->bytes, image.length);
		damage(&image);
		try_to_enable(&image, &tally);
		free(image.bytes);
	}
	printf("hostile: %u refused, %u accepted, %u unexplained, last reason: %s\n", tally.refused, tally.accepted,
	       tally.unexplained, tally.reason);
	return 0;
}
