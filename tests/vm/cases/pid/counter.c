/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.so: counts the calls of malloc() from the program's start on, in a file that outlives it
 *
 * Loaded before the C library it is called in its place.  "Start" is where __libc_start_main() is
 * called: what the libraries' own constructors allocate is before it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);

static _Atomic long *count;

void *malloc(size_t bytes)
{
	if (count)
		++*count;
	return __libc_malloc(bytes);
}

/* What was not allocated before the C library allocates with the malloc() of its own. */
void *realloc(void *memory, size_t bytes)
{
	if (count && !memory)
		++*count;
	return __libc_realloc(memory, bytes);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	__typeof__(&__libc_start_main) real = (__typeof__(&__libc_start_main))dlsym(RTLD_NEXT, "__libc_start_main");
	int file = open(getenv("COUNTER"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (file >= 0 && ftruncate(file, sizeof(*count)) == 0)
		count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	return real(main, argc, argv, init, fini, rtld_fini, stack_end);
}
