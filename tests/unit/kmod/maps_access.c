// SPDX-License-Identifier: Apache-2.0
/*
 * maps_access.c - log.c of the maps with the test for its processes and its clock
 */
#include "kmod/state.h"
#include "tests/support/kernel/shim.h"
#include "tests/unit/kmod/access.h"

#define __aligned(bytes)	 __attribute__((aligned(bytes)))
#define ALIGN(n, m)		 (((n) + (m)-1) / (m) * (m))
#define min_t(type, a, b)	 min((type)(a), (type)(b))
#define clamp_t(type, n, low, high) min_t(type, max_t(type, n, low), high)
#define IS_ERR(pointer)		 ((unsigned long)(pointer) >= (unsigned long)-4095)
#define DEFINE_RAW_SPINLOCK(name) struct mutex name
#define raw_spin_lock		 mutex_lock
#define raw_spin_unlock		 mutex_unlock
#define smp_wmb()		 ((void)0)
#define vmalloc			 malloc
#define vfree			 free
#define atomic_read(number)	 (*(number))
#define hash_ptr(pointer, bits)	 ((uintptr_t)(pointer) / 8 % (1u << (bits)))
#define __kuid_val(user)	 (user)
#define task_euid(task)		 ((task)->user)
#define pid_alive(task)		 ((task)->group_leader != NULL)
#define file_inode(file)	 (&(file)->inode)
#define i_size_read(inode)	 ((inode)->bytes)
#define timespec64_to_ns(time)	 ((time)->ns)
#define dbk_function		 test_maps_function
#define dbk_bank_free_bytes	 test_maps_bank_bytes
#define dbk_host_pages_alloc	 test_maps_pages_alloc
#define dbk_host_pages_free	 test_maps_pages_free
#define ktime_get_mono_fast_ns() (kernel.now_ns)
#undef DBK_HAVE_INODE_GET_MTIME

struct timespec64 {
	u64 ns;
};
struct dentry;
struct inode {
	u64 bytes;
	struct timespec64 i_mtime;
};
struct file {
	struct inode inode;
	struct {
		const struct dentry *dentry;
	} f_path;
	const char *path;
};
struct signal_struct {
	int live;
};
struct task_struct {
	int tgid;
	u32 self_exec_id, user;
	u64 start_boottime;
	struct task_struct *group_leader;
	struct signal_struct *signal, signals;
};
enum { PIDTYPE_TGID };

static int init_pid_ns;
static struct {
	struct task_struct tasks[TEST_MAPS_PIDS];
	u64 now_ns, bank_bytes;
} kernel;

static struct task_struct *find_pid_ns(u32 pid, const int *namespace)
{
	(void)namespace;
	assert(shim.rcu_depth != 0 && pid < TEST_MAPS_PIDS);
	return kernel.tasks[pid].tgid != 0 ? &kernel.tasks[pid] : NULL;
}

static struct task_struct *pid_task(struct task_struct *task, int type)
{
	(void)type;
	return task;
}

static const char *file_path(struct file *file, char *room, size_t bytes)
{
	(void)room;
	(void)bytes;
	return file->path;
}

static void *test_maps_function(const char *name)
{
	(void)name;
	return NULL;
}

static u64 test_maps_bank_bytes(void)
{
	return kernel.bank_bytes;
}

static bool test_maps_pages_alloc(u32 bytes, enum dbk_pages_from from, u32 cpu, struct dbk_pages *pages_ret)
{
	(void)from;
	(void)cpu;
	*pages_ret = (struct dbk_pages){ .address = calloc(1, bytes), .bytes = bytes };
	return true;
}

static void test_maps_pages_free(struct dbk_pages *pages)
{
	free(pages->address);
	pages->address = NULL;
}

#include "kmod/maps/log.c"

static bool begin(u64 bank_bytes, u64 mappings)
{
	bool made;

	memset(&kernel, 0, sizeof(kernel));
	kernel.now_ns = NSEC_PER_SEC;
	kernel.bank_bytes = bank_bytes;
	mutex_lock(&dbk.mutex);
	made = dbk_maps_log_create(mappings);
	mutex_unlock(&dbk.mutex);
	if (made)
		dbk_maps_log_begin();
	return made;
}

bool test_maps_begin(u32 blocks)
{
	return begin((u64)blocks * BANK_SHARE * BLOCK_BYTES, 0);
}

bool test_maps_begin_for(u64 mappings)
{
	return begin(0, mappings);
}

bool test_maps_grow(void)
{
	bool has_grown;

	mutex_lock(&dbk.mutex);
	has_grown = dbk_maps_log_grow();
	mutex_unlock(&dbk.mutex);
	return has_grown;
}

bool test_maps_has_lost(u64 since_ns)
{
	return dbk_maps_log_has_lost(since_ns);
}

void test_maps_listed(u32 pid)
{
	dbk_maps_log_image(&kernel.tasks[pid], DBK_MAP_CAUSE_LISTED, 0, NULL, kernel.now_ns);
}

void test_maps_end(void)
{
	dbk_maps_log_end();
	dbk_maps_log_destroy();
}

void test_maps_pass(u64 ns)
{
	kernel.now_ns += ns;
}

u64 test_maps_now(void)
{
	return kernel.now_ns;
}

u32 test_maps_blocks(void)
{
	return dbk.block_count - DBK_BLOCK_MAPS;
}

const void *test_maps_block(u32 index, u32 *bytes_ret)
{
	const struct dbk_meta_header *header = dbk.blocks[DBK_BLOCK_MAPS + index].address;

	*bytes_ret = header->magic == DBK_META_MAGIC ? header->committed_bytes : 0;
	return header;
}

/* A process that is there already executes another program. */
void test_maps_image(u32 pid)
{
	struct task_struct *task = &kernel.tasks[pid];

	if (task->tgid == 0 || task->signals.live == 0)
		*task = (struct task_struct){ .tgid = (int)pid, .start_boottime = kernel.now_ns, .group_leader = task };
	task->signal = &task->signals;
	task->signals.live = 1;
	task->self_exec_id++;
	dbk_maps_log_image(task, DBK_MAP_CAUSE_EXEC, 0, NULL, kernel.now_ns);
}

void test_maps_exit(u32 pid, bool is_reaped)
{
	kernel.tasks[pid].signals.live = 0;
	dbk_maps_log_exit(&kernel.tasks[pid], kernel.now_ns);
	if (is_reaped)
		kernel.tasks[pid].tgid = 0;
}

static struct vm_area_struct area(u64 begin, u64 end, u64 offset, struct file *file)
{
	return (struct vm_area_struct){ .vm_start = begin, .vm_end = end, .vm_pgoff = offset >> PAGE_SHIFT, .vm_file = file };
}

void test_maps_mapping(u32 pid, u64 begin, u64 end, u64 offset, const char *path)
{
	struct file file = { .inode = { 1, { 1 } }, .f_path = { (const struct dentry *)path }, .path = path };
	struct vm_area_struct vma = area(begin, end, offset, path ? &file : NULL);

	dbk_maps_log_mapping(&kernel.tasks[pid], &vma, kernel.now_ns);
}

void test_maps_unmapped(u32 pid, u64 begin, u64 end)
{
	dbk_maps_log_unmapped(&kernel.tasks[pid], begin, end, kernel.now_ns);
}

void test_maps_fork(u32 pid, u32 parent)
{
	struct task_struct *task = &kernel.tasks[pid];

	*task = (struct task_struct){
		.tgid = (int)pid, .start_boottime = kernel.now_ns, .group_leader = task,
		.signal = &task->signals, .signals = { 1 }, .self_exec_id = kernel.tasks[parent].self_exec_id,
	};
	dbk_maps_log_image(task, DBK_MAP_CAUSE_FORK, parent, NULL, kernel.now_ns);
}

void test_maps_lost(void)
{
	dbk_maps_log_lost(kernel.now_ns);
}
