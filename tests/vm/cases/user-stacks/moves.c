/* SPDX-License-Identifier: Apache-2.0 */
/* moves: code comes, goes and is moved; what lies at an address is asked by getpgid(NUMBER, ADDRESS),
 * and what /proc says of it goes to the file that is named. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define PLUGIN "/lib/libplugin.so"

static FILE *witness;
static int numbers;

/* The line of /proc/self/maps with an address; its first four fields are taken. */
static int mapping_of(unsigned long address, unsigned long *begin, unsigned long *end, char *rights, unsigned long *offset, char *path)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int found = 0;

	while (!found && maps && fgets(line, sizeof(line), maps)) {
		*path = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", begin, end, rights, offset, path) < 4)
			break;
		found = address >= *begin && address < *end;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* Times of records are not as exact as those of mappings: nothing happens just before or after. */
static void note(const char *what, unsigned long address)
{
	unsigned long begin, end, offset;
	char rights[8], path[256];

	if (mapping_of(address, &begin, &end, rights, &offset, path) && strchr(rights, 'x') && *path == '/')
		fprintf(witness, "%d %s %s 0x%lx\n", ++numbers, what, strrchr(path, '/') + 1, address - begin + offset);
	else
		fprintf(witness, "%d %s - 0x%lx\n", ++numbers, what, address);
	usleep(5000);
	syscall(SYS_getpgid, numbers, address);
	usleep(5000);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The plugin's code once more, without the loader. */
static unsigned long map_code(int file, unsigned long offset, unsigned long bytes)
{
	void *code = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, offset);

	if (code == MAP_FAILED)
		fail("mmap");
	return (unsigned long)code;
}

int main(int count, char **arguments)
{
	unsigned long begin, end, offset, function, code, moved;
	char rights[8], path[256];
	void *plugin = dlopen(PLUGIN, RTLD_NOW);
	int file = open(PLUGIN, O_RDONLY);

	witness = count == 2 ? fopen(arguments[1], "w") : NULL;
	if (!plugin || file < 0 || !witness)
		fail("set-up");
	function = (unsigned long)dlsym(plugin, "plugin_first");
	if (!mapping_of(function, &begin, &end, rights, &offset, path))
		fail("maps");
	note("opened", function);
	dlclose(plugin);
	note("closed", function);
	plugin = dlopen(PLUGIN, RTLD_NOW);
	note("opened-again", (unsigned long)dlsym(plugin, "plugin_second"));

	code = map_code(file, offset, end - begin);
	note("mapped", code + (function - begin));
	madvise((void *)code, end - begin, MADV_DONTNEED);
	note("without-pages", code + (function - begin));
	moved = (unsigned long)mremap((void *)code, end - begin, end - begin, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x700000000000);
	if (moved != 0x700000000000)
		fail("mremap");
	note("moved-from", code + (function - begin));
	note("moved-to", moved + (function - begin));

	/* Of the two functions' pages the second is moved away alone. */
	code = 0x710000000000 + PAGE;
	if (mremap((void *)(moved + (function - begin) + PAGE), PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)code) != (void *)code)
		fail("mremap of a part");
	note("part-stays", moved + (function - begin));
	note("part-is-gone", moved + (function - begin) + PAGE);
	note("part-moved", code);

	/* Something else is mapped over the first. */
	if (mmap((void *)(moved + (function - begin)), PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		fail("mmap over");
	note("mapped-over", moved + (function - begin));
	munmap((void *)code, PAGE);
	note("unmapped", code);

	/* Code takes the place of other code. */
	code = map_code(file, offset + (function - begin), PAGE);
	note("before-other-code", code);
	if (mmap((void *)code, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, offset + (function - begin) + PAGE) == MAP_FAILED)
		fail("mmap of other code");
	note("other-code", code);

	/* Several mappings are unmapped at once, of which the last is code. */
	code = (unsigned long)mmap(NULL, 8 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect((void *)(code + PAGE), PAGE, PROT_READ | PROT_WRITE);
	if (mmap((void *)(code + 7 * PAGE), PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, offset + (function - begin)) == MAP_FAILED)
		fail("mmap at the end");
	note("last-of-several", code + 7 * PAGE);
	munmap((void *)code, 8 * PAGE);
	note("several-unmapped", code + 7 * PAGE);
	fclose(witness);
	return 0;
}
