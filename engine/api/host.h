/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * host.h - all that the engine asks of its host
 *
 * The engine knows neither kernel nor libc.  What it cannot know itself it asks
 * through the functions here, which the host defines and the linker joins: the
 * kernel module, the simulator, the test host.  There is nothing else: the
 * archive's imports are checked against engine/userspace_imports.txt.
 *
 * Two kinds of functions, never to be mixed up:
 *
 *   control path   called from dbk_* calls that the host itself made, in a
 *                  context that may sleep, under the host's one control mutex
 *   probe context  called while a probe fires: interrupts off, maybe in NMI;
 *                  must be __probe_ctx themselves, must not take a lock, must
 *                  be bounded, must not fire probes (a nested firing is dropped)
 *
 * The inline seam: a host that wants the hot ones inlined (the kernel, the simulator) builds
 * the engine with -DDBK_HOST_INLINE and has a header "dbk_host_inline.h" in the
 * include path.  That header defines any of the functions marked [inline] as
 * `static __probe_ctx_inline` and, for each, a macro of the same name:
 *
 *	#define dbk_host_ticks dbk_host_ticks
 *	static __probe_ctx_inline uint64_t dbk_host_ticks(void) { return get_cycles(); }
 *
 * What it leaves out stays an ordinary external function.
 */
#ifndef DBK_ENGINE_HOST_H
#define DBK_ENGINE_HOST_H

#include "engine/api/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dbk_probe;

#ifdef DBK_HOST_INLINE
#include "dbk_host_inline.h"
#endif

/* ---- control path: memory ------------------------------------------------ */

/** dbk_host_alloc() - @bytes of zeroed memory, readable in probe context; NULL when there is none.
 * Failing harms nothing else on the machine.  It should begin with a line of the cache, where it
 * is a multiple of 64 bytes: so what one CPU writes has lines of its own. */
void *dbk_host_alloc(size_t bytes);

/** dbk_host_alloc_max() - bytes of it that one purpose of a consumer may take, on all CPUs: its
 * dynamic variables, speculations, aggregations; a share of what the machine has left */
uint64_t dbk_host_alloc_max(void);

/** dbk_host_free() - gives back what dbk_host_alloc() gave; NULL is fine */
void dbk_host_free(void *memory);

/* Physically contiguous, direct-mapped pages. */
struct dbk_pages {
	void *address;	    /* page-aligned */
	uint64_t phys_addr; /* 0 in user space */
	uint32_t bytes;	    /* as asked for */
	uint32_t reserved;
	void *host_data; /* the host's own, untouched by the engine */
};

/* Where they come from: each caller says so of each allocation. */
enum dbk_pages_from {
	DBK_PAGES_ANYWHERE, /* the bank while it has room (docs/glossary.md), then the machine's memory */
	DBK_PAGES_BANK,	    /* that alone: what is outside would be a hole in what a reset leaves */
};

#define DBK_CPU_NONE 0xffffffffu /* of no CPU in particular */

#define DBK_PAGES_BYTES_MAX (4u << 20) /* the page allocator's largest block: order 10 */

/**
 * dbk_host_pages_alloc() - zeroed pages for segments, metadata, aggregations
 * @bytes:     multiple of 4096, at most DBK_PAGES_BYTES_MAX
 * @from:      where they come from; a host without a bank need not look at it
 * @cpu:       who writes them, or DBK_CPU_NONE: they should lie on its memory node, if that has such pages
 * @pages_ret: filled on success
 *
 * On failure the engine asks again for less, where less will do; the host should
 * not try hard for large blocks.
 * Return: whether there were such pages.
 */
bool dbk_host_pages_alloc(uint32_t bytes, enum dbk_pages_from from, uint32_t cpu,
			  struct dbk_pages *pages_ret);

/** dbk_host_pages_max() - bytes that all buffers of one consumer may take of @from: a share of the
 * machine's memory, or of the bank.  Asked before anything is allocated, so that a size without sense uses up nothing */
uint64_t dbk_host_pages_max(enum dbk_pages_from from);

/** dbk_host_pages_free() - gives back a block; one with address NULL is fine */
void dbk_host_pages_free(struct dbk_pages *pages);

/* ---- control path: probes ------------------------------------------------ */

/**
 * dbk_host_probe_enable() - @probe got its first ECB
 *
 * The host may arm the probe now, or only note it and arm all at once in
 * dbk_host_probes_settle().  A probe that fires before its consumer is active
 * is passed over.
 * Return: 0, or a negative errno: then the probe is not enabled, and the ECBs go.
 */
int dbk_host_probe_enable(struct dbk_probe *probe);

/** dbk_host_probe_disable() - @probe lost its last ECB; it may still fire until synchronize() */
void dbk_host_probe_disable(struct dbk_probe *probe);

/**
 * dbk_host_probes_settle() - a control operation has made all its probe_enable() and
 * probe_disable() calls; what the host noted is to be done now
 *
 * This may take long.  Meanwhile the host may add and remove other probes, bracketed
 * within: the engine calls it when its own structures are in order.
 *
 * Return: 0, or a negative errno, which the engine hands to the caller of the operation; then it asks
 * dbk_host_probe_is_armed() of each new probe that consumers have named.
 */
int dbk_host_probes_settle(void);

/** dbk_host_probe_is_armed() - whether @probe, which has ECBs, can fire: dbk_host_probes_settle() failed
 * and may have armed others only */
bool dbk_host_probe_is_armed(const struct dbk_probe *probe);

/**
 * dbk_host_pause() - between two steps of an operation on many probes: others may run
 *
 * Return: 0, or a negative errno: what is being enabled is no longer wanted.
 */
int dbk_host_pause(void);

/**
 * dbk_host_synchronize() - returns when every probe context that was running has left
 *
 * In the kernel: synchronize_rcu() and what else covers the contexts that probes fire in.
 */
void dbk_host_synchronize(void);

/**
 * dbk_host_each_cpu() - runs @run once for every CPU, there, with interrupts off, and waits
 *
 * On a CPU that is offline it may run anywhere, while that CPU cannot come.  It
 * is the engine's, probe context, and fires nothing but BEGIN and END.
 */
void dbk_host_each_cpu(void (*run)(void *argument, uint32_t cpu), void *argument);

/**
 * dbk_host_cpus_lock() - until dbk_host_cpus_unlock() dbk_engine_cpu_up() and _cpu_down() wait
 *
 * Not nested.  Memory is allocated under it, and nothing else of the host is called.
 */
void dbk_host_cpus_lock(void);
void dbk_host_cpus_unlock(void);

/** dbk_host_on_cpu() - the same on @cpu alone */
void dbk_host_on_cpu(uint32_t cpu, void (*run)(void *argument, uint32_t cpu), void *argument);

/** dbk_host_secret() - a number that cannot be guessed outside, another each time; for keys of
 * hashes.  Control path */
uint64_t dbk_host_secret(void);

/* Four clocks read together, as near as the host can. */
struct dbk_clocks {
	uint64_t ticks;	  /* dbk_host_ticks() */
	uint64_t mono_ns; /* CLOCK_MONOTONIC */
	uint64_t boot_ns; /* CLOCK_BOOTTIME */
	uint64_t wall_ns; /* CLOCK_REALTIME */
};

/** dbk_host_cpu_place() - the package and the memory node that @cpu belongs to; 0 when not known */
void dbk_host_cpu_place(uint32_t cpu, uint32_t *package_ret, uint32_t *node_ret);

/** dbk_host_clocks() - reads the clocks for a ring's metadata */
void dbk_host_clocks(struct dbk_clocks *clocks_ret);

/* ---- control path: symbols ------------------------------------------------ */

/**
 * dbk_host_symbol() - the address of a symbol of the kernel
 * @name: "symbol", or "module`symbol"; at most DBK_SYMBOL_BYTES_MAX bytes, untrusted
 *
 * Return: the address, for a per-CPU variable its offset; 0 when there is none.
 */
uint64_t dbk_host_symbol(const char *name);

#define DBK_SYMBOL_BYTES_MAX 255u

/* ---- probe context: enter, leave, where am I ----------------------------- */

/** dbk_host_enter() - [inline] disables interrupts; the value goes to dbk_host_leave() */
#ifndef dbk_host_enter
unsigned long dbk_host_enter(void);
#endif

/** dbk_host_leave() - [inline] restores interrupts */
#ifndef dbk_host_leave
void dbk_host_leave(unsigned long flags);
#endif

/** dbk_host_cpu() - [inline] this CPU's index, below the engine's cpu_count */
#ifndef dbk_host_cpu
uint32_t dbk_host_cpu(void);
#endif

/* ---- probe context: clocks ----------------------------------------------- */

/** dbk_host_ticks() - [inline] the record clock: TSC, or CLOCK_MONOTONIC ns; never goes back on
 * a CPU */
#ifndef dbk_host_ticks
uint64_t dbk_host_ticks(void);
#endif

/** dbk_host_ticks_are_quick() - [inline] whether dbk_host_quick_ticks() may be asked: the same clock,
 * read without a call, which costs a function its registers even where it is not made */
#ifndef dbk_host_ticks_are_quick
#define dbk_host_ticks_are_quick() true
#define dbk_host_quick_ticks()	   dbk_host_ticks()
#endif

/** dbk_host_mono_ns() - [inline] CLOCK_MONOTONIC; the variable timestamp */
#ifndef dbk_host_mono_ns
uint64_t dbk_host_mono_ns(void);
#endif

/** dbk_host_wall_ns() - CLOCK_REALTIME; the variable walltimestamp */
uint64_t dbk_host_wall_ns(void);

/* ---- probe context: the current thread ------------------------------------ */

/** dbk_host_pid() - [inline] process id (tgid) of the current thread */
#ifndef dbk_host_pid
uint32_t dbk_host_pid(void);
#endif

/** dbk_host_tid() - [inline] thread id (the kernel's pid) of the current thread */
#ifndef dbk_host_tid
uint32_t dbk_host_tid(void);
#endif

/** dbk_host_curthread() - [inline] address of the current thread's structure */
#ifndef dbk_host_curthread
uint64_t dbk_host_curthread(void);
#endif

/** dbk_host_execname() - [inline] name of the current process: 16 readable bytes with a NUL */
#ifndef dbk_host_execname
const char *dbk_host_execname(void);
#endif
#define DBK_EXECNAME_BYTES 16u /* TASK_COMM_LEN */

/**
 * dbk_host_thread_key() - [inline] what `self->` belongs to
 *
 * Not 0.  Differs between any two threads alive, and between a thread and an interrupt
 * on top of it, so that no two CPUs have the same at a time; should differ between a thread and an earlier one of the same id.
 */
#ifndef dbk_host_thread_key
uint64_t dbk_host_thread_key(void);
#endif

/** dbk_host_uid() - [inline] real user id */
#ifndef dbk_host_uid
uint32_t dbk_host_uid(void);
#endif

/** dbk_host_gid() - [inline] real group id */
#ifndef dbk_host_gid
uint32_t dbk_host_gid(void);
#endif

/** dbk_host_ppid() - process id of the parent */
uint32_t dbk_host_ppid(void);

/** dbk_host_vtimestamp() - ns of CPU time of the current thread, time in probes excluded if known
 */
uint64_t dbk_host_vtimestamp(void);

/** dbk_host_ipl() - 0: thread, 1: softirq, 2: hard interrupt, 3: NMI */
uint32_t dbk_host_ipl(void);

/** dbk_host_progenyof() - whether the current process is @pid or descends from it */
bool dbk_host_progenyof(uint32_t pid);

/** dbk_host_random() - a pseudo-random number, for rand() */
uint64_t dbk_host_random(void);

/* ---- probe context: the firing site ---------------------------------------
 * @frame is what the host gave to dbk_probe_fire(); the engine never looks at it.
 */

/** dbk_host_errno() - the variable errno: of the system call that returns here, else 0 */
int32_t dbk_host_errno(const struct dbk_probe *probe, void *frame);

/** dbk_host_caller() - return address of the function that the probe is in, 0 when unknown */
uint64_t dbk_host_caller(void *frame);

/** dbk_host_ucaller() - the same of the user stack */
uint64_t dbk_host_ucaller(void *frame);

/** dbk_host_stack() - kernel program counters, innermost first, at the probe; returns how many of
 * at most @depth_max were stored */
uint32_t dbk_host_stack(void *frame, uint64_t *pcs, uint32_t depth_max);

/**
 * dbk_host_ustack() - user program counters, innermost first; returns how many, 0 in a kernel
 * thread
 * @bad_ret: untouched, or the address of a frame that leads back to itself: such a stack has no
 * end, and what was found of it is not to be trusted
 */
uint32_t dbk_host_ustack(void *frame, uint64_t *pcs, uint32_t depth_max, uint64_t *bad_ret);

/**
 * dbk_host_user_registers() - DBK_USER_REGISTERS registers of user space at the probe, as DWARF
 * numbers them; false in a kernel thread, or a program of 32 bits
 */
bool dbk_host_user_registers(void *frame, uint64_t *registers);

/** dbk_host_ureg() - uregs[@index]; false when there is no such register */
bool dbk_host_ureg(void *frame, uint64_t index, uint64_t *value_ret);

/* dbk_host_place(address, is_of_process) - only as a macro: the address that stands for what is at
 * that address, of the current process or of the kernel, on all machines that the host stands for.
 * A host of one machine has none, and DIF that calls it is refused. */

/** dbk_host_arg() - [inline] argument @index, at or beyond the probe's arg_count; 0 when there is
 * none */
#ifndef dbk_host_arg
uint64_t dbk_host_arg(const struct dbk_probe *probe, void *frame, uint32_t index);
#endif

/* ---- probe context: memory that is not ours --------------------------------
 * These may meet any address.  They never crash, never sleep, log nothing.
 */

/** dbk_host_readable() - [inline] how many bytes from kernel address @address on need none of these
 * functions, and can be read like the engine's own; 0: that is not known */
#ifndef dbk_host_readable
#define dbk_host_readable(address) ((void)(address), 0)
#endif

/** dbk_host_load() - copies @bytes from kernel address @address; false when that faults */
bool dbk_host_load(void *to, uint64_t address, uint32_t bytes);

/** dbk_host_peek() - [inline] an integer of 1, 2, 4 or 8 bytes there, with zeros above it; false when that
 * faults, and where it is not known: then dbk_host_load() has to be asked */
#ifndef dbk_host_peek
#define dbk_host_peek dbk_host_peek
static __probe_ctx_inline bool dbk_host_peek(uint64_t *value, uint64_t address, uint32_t bytes)
{
	*value = 0;
	if (dbk_host_readable(address) < bytes)
		return dbk_host_load(value, address, bytes);
	__builtin_memcpy(value, (const void *)(uintptr_t)address, bytes);
	return true;
}
#endif

/**
 * dbk_host_load_string() - copies a kernel string
 * @to:      room for @bytes
 * @address: untrusted
 * @bytes:   at least 1; a longer string is cut, with a NUL at to[@bytes - 1]
 *
 * Return: length without NUL (below @bytes), or negative when it faults.
 */
int32_t dbk_host_load_string(char *to, uint64_t address, uint32_t bytes);

/** dbk_host_load_user() - the same as dbk_host_load() from the current process */
bool dbk_host_load_user(void *to, uint64_t address, uint32_t bytes);

/** dbk_host_load_user_string() - the same as dbk_host_load_string() from the current process */
int32_t dbk_host_load_user_string(char *to, uint64_t address, uint32_t bytes);

/**
 * dbk_host_store_user() - copies @bytes into the current process; copyout(), copyoutstr()
 *
 * Return: false when it faults, or when there is no process whose memory may be written here.
 */
bool dbk_host_store_user(uint64_t address, const void *from, uint32_t bytes);

/* Where the kernel keeps what subroutines ask about, in bytes from the start of each structure.
 * With has_locks or has_paths false those subroutines are illegal operations. */
struct dbk_kernel_layout {
	bool has_locks, has_paths;
	/* struct mutex: a word that is the owner's address, flags in its low bits. */
	uint16_t mutex_owner;
	uint64_t mutex_flags;
	/* rwlock_t: a 32-bit count. */
	uint16_t rwlock_count;
	uint32_t rwlock_writer;	 /* this field ... */
	uint32_t rwlock_held;	 /* ... has this value: a writer holds it; else not 0: one waits */
	uint32_t rwlock_readers; /* these bits: readers hold it */
	/* struct path, vfsmount and what surrounds it, dentry and its name. */
	uint16_t path_mnt, path_dentry;
	int16_t mnt_root, mnt_parent, mnt_mountpoint; /* from the struct vfsmount */
	int16_t mnt_itself;			      /* of mnt_parent's target: its vfsmount */
	uint16_t dentry_parent, dentry_name;
};

/** dbk_host_layout() - of the kernel that the addresses are of; constant */
const struct dbk_kernel_layout *dbk_host_layout(void);

/** dbk_host_triggered() - a trigger was entered: who waits for one may be woken, not here but soon */
void dbk_host_triggered(void);

/* ---- probe context: destructive actions -------------------------------------
 * Asked for only by programs that set option destructive.  What cannot be done in
 * a probe is noted, and done as soon as interrupts are on again; what cannot be
 * noted either, because too much is waiting, is false.
 */

/** dbk_host_raise() - sends @signal to the current process; stop() is raise(SIGSTOP) */
bool dbk_host_raise(int32_t signal);
#define DBK_SIGSTOP 19 /* of Linux on every machine we know */

/** dbk_host_breakpoint() - a message on the console, that the action was reached */
bool dbk_host_breakpoint(const struct dbk_probe *probe, uint32_t epid);

/** dbk_host_panic() - brings the kernel down */
bool dbk_host_panic(const struct dbk_probe *probe, uint32_t epid);

/** dbk_host_chill() - lets @ns pass, interrupts off; the engine holds it below DBK_CHILL_MAX_NS */
void dbk_host_chill(uint64_t ns);

#ifdef __cplusplus
}
#endif
#endif /* DBK_ENGINE_HOST_H */
