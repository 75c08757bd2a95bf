// SPDX-License-Identifier: GPL-2.0-only
/*
 * log.c - the blocks of entries about mappings; see log.h
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "engine/api/host.h"
#include "kmod/bank/bank.h"
#include "kmod/kernel/symbols.h"
#include "kmod/maps/log.h"
#include "kmod/state.h"

/* A block has some 1000 mappings.  A bank gives a sixteenth of what it has, and two blocks. */
#define BLOCK_BYTES  (64u << 10)
#define BLOCKS_MIN   2u
#define BLOCKS_USUAL 16u /* 1 MiB: five hundred processes of thirty libraries */
#define BANK_SHARE   16u
#define FILES_BITS  9 /* of a block at most so many different files are not entered twice */
/* After a block that had less to give entries are refused for a while: entering all again costs. */
#define BLOCK_GAIN_MIN (BLOCK_BYTES / 8)
#define REFUSE_NS      NSEC_PER_SEC
#define LOOK_AHEAD     64u /* entries, for one that takes the place: under the lock */
#define ENTRY_BYTES_MAX                                                                            \
	ALIGN(sizeof(struct dbk_map_entry) + sizeof(struct dbk_map_file) + DBK_MAP_PATH_BYTES_MAX, \
	      8)
#define MAPPING_BYTES (sizeof(struct dbk_map_entry) + sizeof(struct dbk_map_mapping))

/* Where the open block has a file. */
struct known_file {
	const void *inode, *dentry;
	u64 bytes, changed_ns;
	u64 number; /* of the block */
	u32 at;
};

/* [M] the lock: all of these. */
static DEFINE_RAW_SPINLOCK(lock);
static bool taking;
static u32 open_block;	 /* of the blocks */
static u32 turn;	 /* the block that is filled next */
static bool is_cramped;	 /* what lives left little of a block */
static u64 block_number; /* of the open one */
static u64 entered;	 /* entries, ever */
static u64 lost, lost_from_ns, last_gap_ns, refused_until_ns;
static struct known_file known_files[1 << FILES_BITS];
static char path_room[PATH_MAX];

static u32 block_count; /* [S] and [M] */
static u8 *old_block;	/* [M]; the memory [C]: what the block had that is filled anew */
static int (*build_id_read)(struct vm_area_struct *vma, unsigned char *id, u32 *bytes); /* [C] */

static struct dbk_pages *open_pages(void)
{
	return &dbk.blocks[DBK_BLOCK_MAPS + open_block];
}

static const struct dbk_meta_header *open_header(void)
{
	return open_pages()->address;
}

/* ---- entries ------------------------------------------------------------------------ */

static void append(const void *entry, u32 bytes)
{
	dbk_meta_block_append(open_pages(), entry, bytes);
	entered++;
}

/* Begins an entry in its place in the block, as each process has some ten.  The caller has made room
 * for it, fills all that follows, and enters nothing else before entry_end(). */
static struct dbk_map_entry *entry_begin(enum dbk_map_kind kind, u32 more_bytes, u64 mono_ns)
{
	struct dbk_map_entry *entry =
		(void *)((u8 *)open_pages()->address + open_header()->committed_bytes);

	*entry = (struct dbk_map_entry){
		.entry_bytes = sizeof(*entry) + more_bytes,
		.kind = kind,
		.mono_ns = mono_ns,
	};
	return entry;
}

static void entry_end(const struct dbk_map_entry *entry)
{
	dbk_meta_block_commit(open_pages(), entry->entry_bytes);
	entered++;
}

static struct dbk_map_entry *entry_begin_of(enum dbk_map_kind kind, u32 more_bytes, u64 mono_ns,
					    const struct task_struct *task)
{
	struct dbk_map_entry *entry = entry_begin(kind, more_bytes, mono_ns);

	entry->pid = task->tgid;
	entry->image = READ_ONCE(task->self_exec_id);
	/* One that has ended meanwhile has no main thread any more; under the lock, so that none is freed. */
	entry->born_ns = (pid_alive(task) ? task->group_leader : task)->start_boottime;
	return entry;
}

/* ---- blocks ------------------------------------------------------------------------- */

static void block_open(u32 index)
{
	struct dbk_meta_header *header;
	struct dbk_map_entry *entry;
	struct dbk_map_block *block;

	open_block = index;
	block_number++;
	header = open_pages()->address;
	WRITE_ONCE(header->magic, 0);
	smp_wmb(); /* a copy that is made meanwhile sees that it is of two blocks */
	WRITE_ONCE(header->checksum[0], 0);
	WRITE_ONCE(header->checksum[1], 0);
	WRITE_ONCE(header->index, (u16)block_number);
	dbk_meta_block_init(open_pages(), DBK_META_MAPS, dbk.boot_id, 0);
	entry = entry_begin(DBK_MAP_BLOCK, sizeof(*block), ktime_get_mono_fast_ns());
	block = (struct dbk_map_block *)(entry + 1);
	block->number = block_number;
	block->entered_before = entered;
	entry_end(entry);
}

/* Whether the program that an entry is about still runs. */
static bool lives(const struct dbk_map_entry *entry)
{
	struct task_struct *task;
	bool alive;

	if (entry->mono_ns < last_gap_ns)
		return false; /* no reader believes it */
	rcu_read_lock();
	task = pid_task(find_pid_ns(entry->pid, &init_pid_ns), PIDTYPE_TGID);
	alive = task && task->start_boottime == entry->born_ns &&
		(u32)READ_ONCE(task->self_exec_id) == entry->image &&
		atomic_read(&task->signal->live) != 0;
	rcu_read_unlock();
	return alive;
}

/* The file of an entry of the old block, in the open one; its time says where it is already. */
static u32 file_again(u32 old_at)
{
	struct dbk_map_entry *file = (struct dbk_map_entry *)(old_block + old_at);

	if (file->mono_ns == 0) {
		u32 at = open_header()->committed_bytes;

		append(file, file->entry_bytes);
		file->mono_ns = at;
	}
	return file->mono_ns;
}

static bool is_of_same(const struct dbk_map_entry *one, const struct dbk_map_entry *other)
{
	return one->pid == other->pid && one->born_ns == other->born_ns &&
	       one->image == other->image;
}

/* Whether an entry says where a file is or is no longer.  Memory without a file changes too often
 * to be carried along: that what it took the place of is gone, an entry of its own says. */
static bool is_of_file(const struct dbk_map_entry *entry)
{
	const struct dbk_map_mapping *mapping = (const struct dbk_map_mapping *)(entry + 1);

	return entry->kind == DBK_MAP_MAPPING &&
	       (mapping->file_at != 0 || (entry->flags & DBK_MAP_F_UNMAPPED) != 0);
}

/* Whether one of the next entries of the old block, from @at on, is of all that @entry is of: then
 * it is not there any more.  A library that is opened and closed again and again would be entered
 * as often. */
static bool is_replaced(const struct dbk_map_entry *entry, u32 at, u32 old_bytes)
{
	const struct dbk_map_mapping *mapping = (const struct dbk_map_mapping *)(entry + 1);
	u32 looked;

	for (looked = 0; looked < LOOK_AHEAD && at < old_bytes; looked++) {
		const struct dbk_map_entry *later = (const struct dbk_map_entry *)(old_block + at);
		const struct dbk_map_mapping *covers = (const struct dbk_map_mapping *)(later + 1);

		if (is_of_same(later, entry) && is_of_file(later) &&
		    covers->begin <= mapping->begin && covers->end >= mapping->end)
			return true;
		at += later->entry_bytes;
	}
	return false;
}

static void enter_again(u32 old_bytes)
{
	const struct dbk_map_entry *before = NULL;
	bool alive = false;
	u32 at;

	for (at = DBK_META_DATA_OFFSET; at < old_bytes;) {
		struct dbk_map_entry *entry = (struct dbk_map_entry *)(old_block + at);
		struct dbk_map_mapping *mapping = (struct dbk_map_mapping *)(entry + 1);

		at += entry->entry_bytes;
		if (entry->kind != DBK_MAP_IMAGE && entry->kind != DBK_MAP_MAPPING)
			continue;
		if (!before || !is_of_same(entry, before))
			alive = lives(entry);
		before = entry;
		if (!alive || entry->mono_ns < last_gap_ns ||
		    (entry->kind == DBK_MAP_MAPPING &&
		     (!is_of_file(entry) || is_replaced(entry, at, old_bytes))))
			continue;
		entry->flags |= DBK_MAP_F_AGAIN;
		if (entry->kind == DBK_MAP_MAPPING && mapping->file_at != 0)
			mapping->file_at = file_again(mapping->file_at);
		append(entry, entry->entry_bytes);
	}
}

/* Fills the oldest block anew; all that it has about the living fits into it again. */
static void next_block(void)
{
	u32 index = turn, old_bytes = 0;
	const struct dbk_meta_header *header = dbk.blocks[DBK_BLOCK_MAPS + index].address;

	if (header->magic == DBK_META_MAGIC) {
		old_bytes = header->committed_bytes;
		memcpy(old_block, header, old_bytes);
	}
	turn = (index + 1) % block_count;
	block_open(index);
	enter_again(old_bytes);
	if (BLOCK_BYTES - header->committed_bytes >= BLOCK_GAIN_MIN)
		return;
	is_cramped = true;
	refused_until_ns = ktime_get_mono_fast_ns() + REFUSE_NS;
}

static void gap_enter(u64 count, u64 from_ns, u64 now_ns)
{
	struct dbk_map_gap *gap;
	struct dbk_map_entry *entry = entry_begin(DBK_MAP_GAP, sizeof(*gap), now_ns);

	gap = (struct dbk_map_gap *)(entry + 1);
	gap->lost = count;
	gap->from_ns = from_ns;
	entry_end(entry);
	last_gap_ns = now_ns;
}

static bool has_room(u32 bytes)
{
	return BLOCK_BYTES - open_header()->committed_bytes >= bytes;
}

static void lose(u64 now_ns)
{
	if (lost++ == 0)
		lost_from_ns = now_ns;
}

/* Makes room for entries of @bytes; what found none is counted, and entered with the next that
 * does. */
static bool room_make(u32 bytes)
{
	u32 gap_bytes = sizeof(struct dbk_map_entry) + sizeof(struct dbk_map_gap);
	u64 now_ns;

	if (likely(lost == 0 && has_room(bytes)))
		return true;
	now_ns = ktime_get_mono_fast_ns(); /* an entry may be of before */
	if (lost != 0)
		bytes += gap_bytes;
	if (!has_room(bytes) && now_ns >= refused_until_ns)
		next_block();
	if (!has_room(bytes)) {
		lose(now_ns);
		return false;
	}
	if (lost != 0)
		gap_enter(lost, lost_from_ns, now_ns);
	lost = 0;
	return true;
}

/* ---- files -------------------------------------------------------------------------- */

static u64 changed_ns(const struct inode *inode)
{
#ifdef DBK_HAVE_INODE_GET_MTIME
	struct timespec64 time = inode_get_mtime(inode);
#else
	struct timespec64 time = inode->i_mtime;
#endif
	return timespec64_to_ns(&time);
}

/* Puts path and build id of @vma's file into the entry; the end of a path that is too long. */
static void file_describe(struct vm_area_struct *vma, const char *path, u16 *flags,
			  struct dbk_map_file *file)
{
	u32 bytes = strlen(path), id_bytes = 0;

	if (bytes > DBK_MAP_PATH_BYTES_MAX) {
		path += bytes - DBK_MAP_PATH_BYTES_MAX;
		bytes = DBK_MAP_PATH_BYTES_MAX;
		*flags |= DBK_MAP_F_CUT;
	}
	file->path_bytes = bytes;
	memcpy(file + 1, path, bytes);
	if (vma->vm_file && build_id_read && build_id_read(vma, file->build_id, &id_bytes) == 0)
		file->build_id_bytes = min(id_bytes, DBK_MAP_BUILD_ID_BYTES);
}

static u32 file_enter(struct vm_area_struct *vma, const char *path)
{
	u32 at = open_header()->committed_bytes;
	u32 more = min_t(u32, strlen(path), DBK_MAP_PATH_BYTES_MAX) + sizeof(struct dbk_map_file);
	struct dbk_map_entry *entry = entry_begin(DBK_MAP_FILE, ALIGN(more, 8), 0);

	memset(entry + 1, 0, ALIGN(more, 8));
	file_describe(vma, path, &entry->flags, (struct dbk_map_file *)(entry + 1));
	entry_end(entry);
	return at;
}

/* Where the open block has @vma's file, which it is entered into when it has not; 0: it has none.
 */
static u32 file_at(struct vm_area_struct *vma)
{
	struct known_file now = { .number = block_number };
	const char *path = NULL;
	struct known_file *known;

	if (vma->vm_file) {
		now.inode = file_inode(vma->vm_file);
		now.dentry = vma->vm_file->f_path.dentry;
		now.bytes = i_size_read(file_inode(vma->vm_file));
		now.changed_ns = changed_ns(file_inode(vma->vm_file));
	} else {
		path = vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;
		if (!path || strcmp(path, "[vdso]") != 0)
			return 0;
	}
	known = &known_files[hash_ptr((void *)now.dentry, FILES_BITS)];
	if (known->number == now.number && known->inode == now.inode &&
	    known->dentry == now.dentry && known->bytes == now.bytes &&
	    known->changed_ns == now.changed_ns)
		return known->at;
	/* TODO(soon): on PREEMPT_RT this may sleep, under the lock and in hooks that run with preemption off: it waits for
	 * a writer of rename_lock, mount_lock or the process's root, and takes the first two when names have changed
	 * meanwhile; reading a build id may free a page.  Elsewhere these spin for moments, and no holder comes to a hook. */
	if (!path)
		path = file_path(vma->vm_file, path_room, sizeof(path_room));
	if (IS_ERR(path))
		return 0;
	now.at = file_enter(vma, path);
	*known = now;
	return now.at;
}

/* ---- what happens ------------------------------------------------------------------- */

void dbk_maps_log_image(const struct task_struct *task, enum dbk_map_cause cause, u32 parent_pid,
			const struct dbk_map_namespaces *namespaces, u64 mono_ns)
{
	u32 bytes = sizeof(struct dbk_map_image) + (namespaces ? sizeof(*namespaces) : 0);
	struct dbk_map_entry *entry;
	struct dbk_map_image *image;

	raw_spin_lock(&lock);
	if (taking && room_make(sizeof(*entry) + bytes)) {
		entry = entry_begin_of(DBK_MAP_IMAGE, bytes, mono_ns, task);
		image = (struct dbk_map_image *)(entry + 1);
		image->cause = cause;
		image->parent_pid = parent_pid;
		if (namespaces)
			*(struct dbk_map_namespaces *)(image + 1) = *namespaces;
		entry_end(entry);
	}
	raw_spin_unlock(&lock);
}

/* There is room for it: from @begin to @end, of the file at @at if there is one. */
static void mapping_enter(const struct task_struct *task, u16 flags, u64 begin, u64 end, u32 at,
			  u64 offset, u64 mono_ns)
{
	struct dbk_map_mapping *mapping;
	struct dbk_map_entry *entry =
		entry_begin_of(DBK_MAP_MAPPING, sizeof(*mapping), mono_ns, task);

	entry->flags = flags;
	mapping = (struct dbk_map_mapping *)(entry + 1);
	*mapping = (struct dbk_map_mapping){
		.begin = begin,
		.end = end,
		.offset = offset,
		.file_at = at,
	};
	entry_end(entry);
}

void dbk_maps_log_moved(const struct task_struct *task, struct vm_area_struct *vma, u64 begin,
			u64 bytes, u64 page, u64 mono_ns)
{
	raw_spin_lock(&lock);
	if (taking && room_make(MAPPING_BYTES + ENTRY_BYTES_MAX)) {
		u32 at = file_at(vma); /* an entry of its own, in the same room */

		mapping_enter(task, 0, begin, begin + bytes, at,
			      at && vma->vm_file ? page << PAGE_SHIFT : 0, mono_ns);
	}
	raw_spin_unlock(&lock);
}

void dbk_maps_log_mapping(const struct task_struct *task, struct vm_area_struct *vma, u64 mono_ns)
{
	dbk_maps_log_moved(task, vma, vma->vm_start, vma->vm_end - vma->vm_start, vma->vm_pgoff,
			   mono_ns);
}

void dbk_maps_log_unmapped(const struct task_struct *task, u64 begin, u64 end, u64 mono_ns)
{
	raw_spin_lock(&lock);
	if (taking && room_make(MAPPING_BYTES))
		mapping_enter(task, DBK_MAP_F_UNMAPPED, begin, end, 0, 0, mono_ns);
	raw_spin_unlock(&lock);
}

void dbk_maps_log_lost(u64 mono_ns)
{
	raw_spin_lock(&lock);
	lose(mono_ns);
	raw_spin_unlock(&lock);
}

void dbk_maps_log_exit(const struct task_struct *task, u64 mono_ns)
{
	struct dbk_map_entry *entry;
	struct dbk_map_exit *what;

	raw_spin_lock(&lock);
	if (taking && room_make(sizeof(*entry) + sizeof(*what))) {
		entry = entry_begin_of(DBK_MAP_EXIT, sizeof(*what), mono_ns, task);
		what = (struct dbk_map_exit *)(entry + 1);
		*what = (struct dbk_map_exit){ .user = __kuid_val(task_euid(task)) };
		entry_end(entry);
	}
	raw_spin_unlock(&lock);
}

/* ---- memory ------------------------------------------------------------------------- */

static u32 blocks_wanted(u64 mappings)
{
	u64 bank_bytes = dbk_bank_free_bytes();
	u64 wanted = clamp_t(u64, 2 * mappings * MAPPING_BYTES / BLOCK_BYTES, BLOCKS_USUAL, DBK_MAP_BLOCKS);

	if (bank_bytes == 0)
		return wanted;
	return clamp_t(u64, bank_bytes / BANK_SHARE / BLOCK_BYTES, BLOCKS_MIN, wanted);
}

static void blocks_add(u32 wanted)
{
	u32 count = block_count;

	while (count < wanted &&
	       dbk_host_pages_alloc(BLOCK_BYTES, DBK_PAGES_ANYWHERE, DBK_CPU_NONE, &dbk.blocks[DBK_BLOCK_MAPS + count]))
		count++;
	mutex_lock(&dbk.look_mutex);
	dbk.block_count = DBK_BLOCK_MAPS + count;
	mutex_unlock(&dbk.look_mutex);
	raw_spin_lock(&lock);
	block_count = count;
	raw_spin_unlock(&lock);
}

bool dbk_maps_log_create(u64 mappings)
{
	dbk_state_assert();
	if (block_count != 0)
		return true;
	build_id_read =
		dbk_function("build_id_parse_nofault") ?: dbk_function("build_id_parse");
	old_block = vmalloc(BLOCK_BYTES);
	if (!old_block)
		return false;
	blocks_add(blocks_wanted(mappings));
	if (block_count >= BLOCKS_MIN)
		return true;
	dbk_maps_log_destroy();
	return false;
}

/* A bank's room is the rings', too. */
bool dbk_maps_log_grow(void)
{
	u32 before = block_count;

	dbk_state_assert();
	if (!READ_ONCE(is_cramped) || before == DBK_MAP_BLOCKS || dbk_bank_free_bytes() != 0)
		return false;
	blocks_add(min_t(u32, 2 * before, DBK_MAP_BLOCKS));
	if (block_count == before)
		return false;
	raw_spin_lock(&lock);
	turn = before; /* those that are empty come first */
	refused_until_ns = 0;
	is_cramped = false;
	raw_spin_unlock(&lock);
	return true;
}

bool dbk_maps_log_has_lost(u64 since_ns)
{
	bool has_lost;

	raw_spin_lock(&lock);
	/* Where there is room again the gap is entered before what is to be listed. */
	if (lost != 0)
		room_make(0);
	has_lost = lost != 0 || last_gap_ns > since_ns;
	raw_spin_unlock(&lock);
	return has_lost;
}

/* When no reader can ask for the blocks any more: none of them, or the module goes. */
void dbk_maps_log_destroy(void)
{
	u32 i;

	mutex_lock(&dbk.look_mutex);
	dbk.block_count = DBK_BLOCK_MAPS;
	mutex_unlock(&dbk.look_mutex);
	for (i = 0; i < block_count; i++)
		dbk_host_pages_free(&dbk.blocks[DBK_BLOCK_MAPS + i]);
	block_count = 0;
	vfree(old_block);
	old_block = NULL;
}

void dbk_maps_log_begin(void)
{
	u64 now = ktime_get_mono_fast_ns();
	u32 i;

	raw_spin_lock(&lock);
	/* Numbers of another load of the module in this boot are other ones. */
	if (block_number == 0)
		block_number = now >> 20;
	for (i = 0; i < block_count; i++)
		WRITE_ONCE(
			((struct dbk_meta_header *)dbk.blocks[DBK_BLOCK_MAPS + i].address)->magic,
			0);
	lost = refused_until_ns = 0;
	is_cramped = false;
	turn = 1;
	block_open(0);
	gap_enter(0, now, now);
	taking = true;
	raw_spin_unlock(&lock);
}

void dbk_maps_log_end(void)
{
	u64 now = ktime_get_mono_fast_ns();

	raw_spin_lock(&lock);
	if (room_make(sizeof(struct dbk_map_entry) + sizeof(struct dbk_map_gap)))
		gap_enter(0, now, now);
	taking = false;
	raw_spin_unlock(&lock);
}
