// SPDX-License-Identifier: GPL-2.0-only
/*
 * beside.c - the programs that lie in a folder beside the module
 *
 * The process that loads the module could load any, so it may name any folder; what lies in it may be
 * anything.  Only regular files are opened: opening a FIFO waits, and opening a device may do
 * something.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel_read_file.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "formats/abi/embed.h"
#include "kmod/core/anonymous.h"
#include "kmod/core/beside.h"
#include "kmod/core/ring.h"
#include "kmod/core/signature.h"

/* 4096: a folder of that many entries is not the one that was meant. */
#define ENTRIES_MAX    4096u
/* As many as can be embedded. */
#define FILES_MAX      DBK_EMBED_IMAGES_MAX
#define FILE_NAME_SIZE (NAME_MAX + 1)

#define SUFFIX ".dof"
#define PLACE  "program "

static char *programs;
module_param(programs, charp, 0400);
MODULE_PARM_DESC(programs, "folder whose *.dof are enabled when the module is loaded");

/* The programs of a folder, the first FILES_MAX by name. */
struct listing {
	struct dir_context context;
	u32 entries;	 /* looked at */
	u32 files;	 /* in names */
	u32 left_out;	 /* programs for which there was no room */
	bool is_cut;	 /* there were more entries */
	char names[FILES_MAX][FILE_NAME_SIZE];
};

static bool ends_with(const char *name, size_t bytes, const char *suffix)
{
	size_t suffix_bytes = strlen(suffix);

	return bytes > suffix_bytes && !memcmp(name + bytes - suffix_bytes, suffix, suffix_bytes);
}

/* Into its place by name; the last one goes when there is no room. */
static void listing_add(struct listing *listing, const char *name)
{
	u32 at = listing->files;

	if (at == FILES_MAX) {
		listing->left_out++;
		if (strcmp(name, listing->names[--at]) > 0)
			return;
	} else {
		listing->files++;
	}
	for (; at > 0 && strcmp(name, listing->names[at - 1]) < 0; at--)
		memcpy(listing->names[at], listing->names[at - 1], FILE_NAME_SIZE);
	strscpy(listing->names[at], name, FILE_NAME_SIZE);
}

/* One entry of the folder.  A name that begins with a dot is of an editor, or "..". */
static bool entry_look(struct dir_context *context, const char *untrusted_name, int bytes,
		       loff_t offset, u64 inode, unsigned int type)
{
	struct listing *listing = container_of(context, struct listing, context);
	char name[FILE_NAME_SIZE];

	listing->is_cut = listing->entries == ENTRIES_MAX;
	if (listing->is_cut)
		return false;
	listing->entries++;
	if (bytes < 0 || bytes > NAME_MAX)
		return true;
	memcpy(name, untrusted_name, bytes);
	name[bytes] = '\0';
	/* A damaged file system may have a NUL or a slash in a name. */
	if (name[0] != '.' && ends_with(name, strlen(name), SUFFIX) && !strchr(name, '/'))
		listing_add(listing, name);
	return true;
}

static int folder_list(const char *path, struct listing *listing)
{
	struct file *folder = filp_open(path, O_RDONLY | O_DIRECTORY, 0);
	u32 before;
	int err;

	if (IS_ERR(folder))
		return PTR_ERR(folder);
	listing->context.actor = entry_look;
	/* Some file systems (FUSE) give a page of entries at a time. */
	do {
		before = listing->entries;
		err = iterate_dir(folder, &listing->context);
	} while (err >= 0 && listing->entries != before && !listing->is_cut);
	fput(folder);
	return min(err, 0);
}

/* What is printed of a name changes no terminal. */
static void name_show(char *name)
{
	for (; *name; name++)
		if (*name <= ' ' || *name > '~')
			*name = '_';
}

/* A file's name as a ring's, as `daybreak embed` has it. */
static void ring_name(const char *shown, char name_ret[DBK_RING_NAME_BYTES])
{
	size_t bytes = strlen(shown) - strlen(SUFFIX);

	if (ends_with(shown, bytes, ".d"))
		bytes -= strlen(".d");
	strscpy(name_ret, shown, min_t(size_t, bytes + 1, DBK_RING_NAME_BYTES));
}

#define refuse(reason, ...) (scnprintf((reason)->text, sizeof((reason)->text), __VA_ARGS__), NULL)

static struct file *file_open(const char *path, struct dbk_reason *reason)
{
	struct file *file;
	struct path at;
	int err = kern_path(path, LOOKUP_FOLLOW, &at);

	if (err)
		return refuse(reason, "the file cannot be found (error %d)", -err);
	file = d_is_reg(at.dentry) ? dentry_open(&at, O_RDONLY | O_LARGEFILE, current_cred()) : NULL;
	path_put(&at);
	if (!file)
		return refuse(reason, "it is not a regular file");
	if (IS_ERR(file))
		return refuse(reason, "the file cannot be opened (error %d)", (int)-PTR_ERR(file));
	return file;
}

/* The bytes of a file, for kvfree(). */
static void *file_read(struct file *file, size_t *bytes_ret, struct dbk_reason *reason)
{
	loff_t bytes = i_size_read(file_inode(file));
	ssize_t got;
	void *dof;

	if (bytes <= 0)
		return refuse(reason, "the file is empty");
	if (bytes > DBK_DOF_BYTES_MAX)
		return refuse(reason, "the DOF is larger than 8 MiB");
	dof = kvmalloc(bytes, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!dof)
		return refuse(reason, "not enough memory");
	/* What the kernel is to do, as a policy; of kind UNKNOWN IPE (since v6.12) warns. */
	got = kernel_read_file(file, 0, &dof, bytes, NULL, READING_POLICY);
	if (got != bytes) {
		kvfree(dof);
		return refuse(reason, "the file cannot be read (error %d)", got < 0 ? (int)-got : EIO);
	}
	*bytes_ret = bytes;
	return dof;
}

static void *path_read(const char *name, size_t *bytes_ret, struct dbk_reason *reason)
{
	char *path = kasprintf(GFP_KERNEL, "%s/%s", programs, name);
	struct file *file;
	void *dof;

	if (!path)
		return refuse(reason, "not enough memory");
	file = file_open(path, reason);
	kfree(path);
	if (!file)
		return NULL;
	dof = file_read(file, bytes_ret, reason);
	fput(file);
	if (dof && dbk_signature_check(dof, bytes_ret, reason)) {
		kvfree(dof);
		return NULL;
	}
	return dof;
}

/* @file: as the folder has it; afterwards as it is shown */
static void file_enable(char *file)
{
	char name[DBK_RING_NAME_BYTES];
	struct dbk_reason reason;
	size_t bytes = 0;
	void *dof = path_read(file, &bytes, &reason);
	bool is_taken;

	name_show(file);
	if (!dof) {
		dbk_anonymous_refuse(PLACE, file, reason.text);
		return;
	}
	ring_name(file, name);
	mutex_lock(&dbk.mutex);
	is_taken = dbk_ring_find_named(name) != NULL;
	mutex_unlock(&dbk.mutex);
	if (is_taken)
		dbk_anonymous_refuse(PLACE, file, "there is a ring of its name");
	else
		dbk_anonymous_enable(dof, bytes, PLACE, file, name);
	kvfree(dof);
}

static void listing_enable(struct listing *listing)
{
	u32 i;

	for (i = 0; i < listing->files; i++)
		file_enable(listing->names[i]);
	if (listing->left_out != 0)
		pr_err("programs=%s: room for %u programs: left out %u after %s\n", programs,
		       FILES_MAX, listing->left_out, listing->names[FILES_MAX - 1]);
	if (listing->is_cut)
		pr_err("programs=%s: only %u entries of the folder were looked at\n", programs,
		       ENTRIES_MAX);
}

void dbk_beside_enable(void)
{
	struct listing *listing;
	struct dbk_reason reason;
	int err;

	if (!programs || programs[0] == '\0')
		return;
	listing = kvzalloc(sizeof(*listing), GFP_KERNEL | __GFP_NOWARN);
	err = listing ? folder_list(programs, listing) : -ENOMEM;
	if (err) {
		scnprintf(reason.text, sizeof(reason.text), "the folder cannot be read (error %d)",
			  -err);
		dbk_anonymous_refuse("programs=", programs, reason.text);
	} else {
		listing_enable(listing);
	}
	kvfree(listing);
}
