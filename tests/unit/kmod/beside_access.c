// SPDX-License-Identifier: Apache-2.0
/*
 * beside_access.c - beside.c with the test for its files
 */
#include "kmod/core/anonymous.h"
#include "tests/support/kernel/shim.h"
#include "tests/unit/kmod/access.h"

#define ERR_PTR(error)	     ((void *)(long)(error))
#define PTR_ERR(pointer)     ((long)(pointer))
#define IS_ERR(pointer)	     ((unsigned long)(pointer) >= (unsigned long)-4095)
#define __GFP_NOWARN	     0
#define O_RDONLY	     0
#define O_DIRECTORY	     1
#define O_LARGEFILE	     2
#define LOOKUP_FOLLOW	     1
#define READING_POLICY	     0
#define current_cred()	     0
#define d_is_reg(file)	     ((file)->is_regular)
#define file_inode(file)     ((file)->seen)
#define i_size_read(seen_it) ((seen_it)->bytes)
#define min_t(type, a, b)    min((type)(a), (type)(b))
#define kvmalloc(bytes, f)   taken(malloc(bytes))
#define kvzalloc(bytes, f)   taken(calloc(1, bytes))
#define kvfree(memory)	     given(memory)
#define dbk_anonymous_enable test_anonymous_enable
#define dbk_anonymous_refuse test_program_refused
#define dbk_ring_find_named  test_ring_find_named
#define dbk_signature_check  test_signature_check
#undef kfree
#define kfree given

struct path {
	const struct test_file *dentry;
};
struct file {
	const struct test_file *seen;
	size_t position; /* in a folder */
};
struct dir_context {
	bool (*actor)(struct dir_context *context, const char *name, int bytes, loff_t offset, u64 inode,
		      unsigned int type);
	loff_t pos;
};

static struct {
	const char *folder;
	const struct test_file *files;
	size_t count;
	int error, held; /* held: files, paths and memory */
	int memory_left; /* allocations that do not fail */
} disk;

static void *taken(void *memory)
{
	if (disk.memory_left == 0) {
		free(memory);
		return NULL;
	}
	disk.memory_left--;
	disk.held++;
	return memory;
}

static void given(void *memory)
{
	disk.held -= memory != NULL;
	free(memory);
}

static char *kasprintf(int flags, const char *format, const char *folder, const char *name)
{
	char text[4096];

	(void)flags;
	snprintf(text, sizeof(text), format, folder, name);
	return taken(strdup(text));
}

static struct file *opened(const struct test_file *seen)
{
	struct file *file = calloc(1, sizeof(*file));

	file->seen = seen;
	disk.held++;
	return file;
}

static void fput(struct file *file)
{
	disk.held--;
	free(file);
}

static int kern_path(const char *text, int flags, struct path *path_ret)
{
	size_t folder_bytes = strlen(disk.folder), i;

	assert(flags == LOOKUP_FOLLOW && !dbk.mutex.held);
	assert(!strncmp(text, disk.folder, folder_bytes) && text[folder_bytes] == '/');
	for (i = 0; i < disk.count && strcmp(disk.files[i].name, text + folder_bytes + 1) != 0; i++)
		;
	assert(i < disk.count);
	path_ret->dentry = &disk.files[i];
	disk.held += disk.files[i].look_error == 0;
	return disk.files[i].look_error;
}

static void path_put(struct path *path)
{
	(void)path;
	disk.held--;
}

static struct file *dentry_open(struct path *path, int flags, int cred)
{
	(void)cred;
	assert(flags == (O_RDONLY | O_LARGEFILE) && path->dentry->is_regular);
	return path->dentry->open_error ? ERR_PTR(path->dentry->open_error) : opened(path->dentry);
}

static struct file *filp_open(const char *path, int flags, int mode)
{
	assert(flags == (O_RDONLY | O_DIRECTORY) && mode == 0 && strcmp(path, disk.folder) == 0);
	return disk.error ? ERR_PTR(disk.error) : opened(NULL);
}

/* As the kernel: a name is not terminated, and a file system may give a few at a time and return 1.  '|' is a NUL. */
static int iterate_dir(struct file *folder, struct dir_context *context)
{
	size_t end = min(disk.count, folder->position + 5);
	bool goes_on = true;

	for (; folder->position < end && goes_on; folder->position++) {
		size_t bytes = strlen(disk.files[folder->position].name);
		char *name = memcpy(malloc(bytes), disk.files[folder->position].name, bytes), *bar = memchr(name, '|', bytes);

		if (folder->position > 4096)
			abort(); /* none after the one that says that there are more */
		if (bar)
			*bar = '\0';
		goes_on = context->actor(context, name, (int)bytes, 0, 0, 0);
		free(name);
	}
	return 1;
}

static long kernel_read_file(struct file *file, loff_t offset, void **buffer, size_t bytes, size_t *all, int id)
{
	(void)id;
	assert(offset == 0 && !all && !dbk.mutex.held);
	if (file->seen->read_error)
		return file->seen->read_error > 0 ? (long)bytes - file->seen->read_error : file->seen->read_error;
	memcpy(*buffer, file->seen->content, bytes);
	return (long)bytes;
}

void test_anonymous_enable(const void *dof, size_t bytes, const char *place, const char *file, const char *name)
{
	assert(!dbk.mutex.held);
	test_program_enabled(dof, bytes, place, file, name);
}

struct dbk_ring *test_ring_find_named(const char *name)
{
	static struct dbk_ring ring;

	assert(dbk.mutex.held);
	return test_ring_is_there(name) ? &ring : NULL;
}

/* A program is signed unless it says that it is not; its signature is the last byte. */
int test_signature_check(const void *dof, size_t *bytes, struct dbk_reason *reason)
{
	assert(!dbk.mutex.held);
	if (*bytes >= 8 && !memcmp(dof, "unsigned", 8)) {
		snprintf(reason->text, sizeof(reason->text), "it is not signed");
		return -1;
	}
	*bytes -= *bytes >= 6 && !memcmp(dof, "signed", 6);
	return 0;
}

#include "kmod/core/beside.c"

void test_beside(const char *folder, int folder_error, const struct test_file *files, size_t count)
{
	disk.folder = folder;
	disk.error = folder_error;
	disk.files = files;
	disk.count = count;
	programs = (char *)folder;
	dbk_beside_enable();
}

bool test_beside_memory(int left)
{
	disk.memory_left = left;
	return disk.held == 0;
}
