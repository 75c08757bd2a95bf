/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * subr_kernel.c - what the kernel's own structures say: locks, paths; see subr.h
 *
 * Everything is read with loads that may fault, at offsets that the host knows, and
 * no lock is taken: what is asked about may change meanwhile, and the answer is what
 * was seen.  Bounds keep a damaged or changing list from being followed for ever.
 */
#include "engine/run/subr.h"

#define PATH_COMPONENTS_MAX 128u /* deeper paths are cut at the front */
#define PATH_MOUNTS_MAX	    32u
#define NAME_BYTES_MAX	    256u /* NAME_MAX and a NUL */

/* ---- locks ------------------------------------------------------------------- */

__probe_ctx static const struct dbk_kernel_layout *layout_of_locks(struct dbk_cpu *cpu)
{
	const struct dbk_kernel_layout *layout = dbk_host_layout();

	if (layout->has_locks)
		return layout;
	dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	return NULL;
}

/* The owner of the mutex in the first argument; 0: none, or a fault. */
__probe_ctx static uint64_t mutex_owner(struct dbk_cpu *cpu)
{
	const struct dbk_kernel_layout *layout = layout_of_locks(cpu);
	uint64_t owner = 0;

	if (layout == NULL ||
	    !dbk_load(cpu, &owner, dbk_subr_argument(cpu, 0) + layout->mutex_owner, 8))
		return 0;
	return owner & ~layout->mutex_flags;
}

__probe_ctx uint64_t dbk_subr_mutex_owner(struct dbk_cpu *cpu)
{
	return mutex_owner(cpu);
}

/* Whether this thread holds it. */
__probe_ctx uint64_t dbk_subr_mutex_owned(struct dbk_cpu *cpu)
{
	return mutex_owner(cpu) == dbk_host_curthread();
}

/* Linux has one sort of mutex: who waits spins while the owner runs, then sleeps. */
__probe_ctx uint64_t dbk_subr_mutex_type_adaptive(struct dbk_cpu *cpu)
{
	mutex_owner(cpu); /* what is not an address still faults */
	return !cpu->fault_set;
}

__probe_ctx uint64_t dbk_subr_mutex_type_spin(struct dbk_cpu *cpu)
{
	mutex_owner(cpu);
	return 0;
}

__probe_ctx static uint32_t rwlock_count(struct dbk_cpu *cpu)
{
	const struct dbk_kernel_layout *layout = layout_of_locks(cpu);
	uint32_t count = 0;

	if (layout == NULL ||
	    !dbk_load(cpu, &count, dbk_subr_argument(cpu, 0) + layout->rwlock_count, 4))
		return 0;
	return count;
}

__probe_ctx uint64_t dbk_subr_rw_read_held(struct dbk_cpu *cpu)
{
	return (rwlock_count(cpu) & dbk_host_layout()->rwlock_readers) != 0;
}

__probe_ctx uint64_t dbk_subr_rw_write_held(struct dbk_cpu *cpu)
{
	const struct dbk_kernel_layout *layout = dbk_host_layout();

	return (rwlock_count(cpu) & layout->rwlock_held) == layout->rwlock_held &&
	       layout->rwlock_held != 0;
}

/* A writer holds it or waits for it. */
__probe_ctx uint64_t dbk_subr_rw_iswriter(struct dbk_cpu *cpu)
{
	return (rwlock_count(cpu) & dbk_host_layout()->rwlock_writer) != 0;
}

/* ---- d_path() ------------------------------------------------------------------ */

/* A path while it is walked from its end to the root. */
struct walk {
	struct dbk_cpu *cpu;
	const struct dbk_kernel_layout *layout;
	uint64_t mnt, dentry;
	char *text;    /* of `room` bytes, filled from the end */
	uint32_t room; /* left before what is there */
	uint32_t mounts;
};

__probe_ctx static bool load_pointer(struct walk *walk, uint64_t base, int32_t offset, uint64_t *to)
{
	return dbk_load(walk->cpu, to, base + (uint64_t)(int64_t)offset, 8);
}

/* Up from a mount's root to where it is mounted; false: this is the root, or a fault. */
__probe_ctx static bool leave_mount(struct walk *walk)
{
	uint64_t parent = 0, mountpoint = 0;

	if (!load_pointer(walk, walk->mnt, walk->layout->mnt_parent, &parent) ||
	    !load_pointer(walk, walk->mnt, walk->layout->mnt_mountpoint, &mountpoint))
		return false;
	parent += (uint64_t)(int64_t)walk->layout->mnt_itself;
	if (parent == walk->mnt || ++walk->mounts > PATH_MOUNTS_MAX)
		return false;
	walk->mnt = parent;
	walk->dentry = mountpoint;
	return true;
}

/* Puts "/name" before what is there; false: no room, or a fault. */
__probe_ctx static bool put_name(struct walk *walk, char *name)
{
	uint64_t address = 0;
	int32_t length;

	if (!load_pointer(walk, walk->dentry, walk->layout->dentry_name, &address))
		return false;
	length = dbk_host_load_string(name, address, NAME_BYTES_MAX);
	if (length < 0) {
		dbk_fault(walk->cpu, DTRACEFLT_BADADDR, address);
		return false;
	}
	if (!dbk_spend(walk->cpu, DBK_WORK_CALL + (uint64_t)length * DBK_WORK_CHAR))
		return false;
	if ((uint32_t)length + 1 > walk->room)
		return false;
	walk->room -= (uint32_t)length + 1;
	walk->text[walk->room] = '/';
	memcpy(walk->text + walk->room + 1, name, (uint32_t)length);
	return true;
}

__probe_ctx static void walk_up(struct walk *walk, char *name)
{
	uint32_t steps;

	for (steps = 0; steps < PATH_COMPONENTS_MAX; steps++) {
		uint64_t root = 0, parent = 0;

		if (!load_pointer(walk, walk->mnt, walk->layout->mnt_root, &root) ||
		    !load_pointer(walk, walk->dentry, walk->layout->dentry_parent, &parent))
			return;
		if (walk->dentry == root || walk->dentry == parent) {
			if (!leave_mount(walk))
				return;
			continue;
		}
		if (!put_name(walk, name))
			return;
		walk->dentry = parent;
	}
}

/* d_path(struct path *): as seen from the first root, whatever root the process has. */
__probe_ctx uint64_t dbk_subr_d_path(struct dbk_cpu *cpu)
{
	uint32_t strsize = cpu->consumer->strsize;
	struct walk walk = {.cpu = cpu, .layout = dbk_host_layout()};
	uint64_t path = dbk_subr_argument(cpu, 0);
	char *name;

	if (!walk.layout->has_paths)
		return dbk_fault(cpu, DTRACEFLT_ILLOP, 0);
	walk.text = dbk_scratch(cpu, strsize);
	name = dbk_scratch(cpu, NAME_BYTES_MAX);
	if (walk.text == NULL || name == NULL ||
	    !load_pointer(&walk, path, walk.layout->path_mnt, &walk.mnt) ||
	    !load_pointer(&walk, path, walk.layout->path_dentry, &walk.dentry))
		return 0;
	walk.room = strsize - 1;
	walk.text[walk.room] = '\0';
	walk_up(&walk, name);
	cpu->scratch_used -= (uint32_t)DBK_ROUND_UP(NAME_BYTES_MAX, 8);
	if (cpu->fault_set)
		return 0;
	if (walk.room == strsize - 1)
		walk.text[--walk.room] = '/';
	return (uint64_t)(uintptr_t)(walk.text + walk.room);
}

#ifdef dbk_host_place
/* place(address, is_of_process): of no program's own, the compiler calls it for sym() and its kin. */
__probe_ctx uint64_t dbk_subr_place(struct dbk_cpu *cpu)
{
	return dbk_host_place(dbk_subr_argument(cpu, 0), dbk_subr_argument(cpu, 1) != 0);
}
#endif
