/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.h - as much of Linux as the module's pure logic needs to be compiled in user space
 *
 * Every <linux/...> and <asm/...> of those files is this one (CMakeLists.txt makes them).  What the kernel would
 * do is left out, or counted in `shim` for the test; nothing here decides anything.
 */
#ifndef DBK_TEST_SHIM_H
#define DBK_TEST_SHIM_H

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef uint64_t phys_addr_t;
typedef unsigned int __poll_t;

/* What the kernel has, and what was asked of it. */
struct shim {
	u8 *memory; /* at physical address `memory_address`, not the kernel's own */
	u64 memory_address, memory_bytes;
	bool memory_is_used;	/* by the kernel */
	bool region_is_claimed; /* by another driver */
	bool memory_is_ram;	/* of the firmware's map */
	u32 rcu_depth, work_count, mapped_count;
	u64 mapped_address;
	u64 busy_bytes, busy_bytes_most; /* written back without a pause */
	struct delayed_work *work;	 /* what was scheduled last */
	struct notifier_block *panic, *reboot, *die, *sleep;
	bool tsc_is_unstable;
	char log[4096]; /* what was printed, back to back */
};
extern struct shim shim;

#define __init
#define __exit
#define READ_ONCE(x)	 (*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define ARRAY_SIZE(a)	 (sizeof(a) / sizeof((a)[0]))
#define min(a, b)	 ((a) < (b) ? (a) : (b))
#define max(a, b)	 ((a) > (b) ? (a) : (b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define round_down(n, m)  ((n) / (m) * (m))
#define DIV_ROUND_UP(n, m) (((n) + (m)-1) / (m))
#define PAGE_SHIFT	  12
#define PAGE_SIZE	  4096ul
#define PAGE_ALIGNED(n)	  ((n) % PAGE_SIZE == 0)
#define U16_MAX		  65535u
#define NSEC_PER_SEC	  1000000000ul
#define NSEC_PER_USEC	  1000ul
#define USEC_PER_SEC	  1000000ul
#define HZ		  250
#define TASK_COMM_LEN	  16
#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

/* ---- text ---- */
void shim_log(const char *format, ...);
#define pr_err	shim_log
#define pr_warn shim_log
#define pr_info shim_log
#define scnprintf(text, bytes, ...) ((void)snprintf(text, bytes, __VA_ARGS__))
void strscpy(char *to, const char *from, size_t bytes);
u64 memparse(const char *text, char **end_ret);

/* ---- locks, memory, lists ---- */
struct mutex {
	int held;
};
#define __MUTEX_INITIALIZER(name) { 0 }
#define mutex_lock(m)		  (assert(!(m)->held), (m)->held = 1)
#define mutex_unlock(m)		  (assert((m)->held), (m)->held = 0)
#define lockdep_assert_held(m)	  assert((m)->held)
#define lockdep_assert(condition) ((void)0)
#define rcu_read_lock()		  ((void)shim.rcu_depth++)
#define rcu_read_unlock()	  ((void)shim.rcu_depth--)
#define GFP_KERNEL		  0
#define kzalloc(bytes, flags)	  calloc(1, bytes)
#define kfree			  free
struct list_head {
	struct list_head *next, *prev;
};
struct work_struct {
	int unused;
};
struct delayed_work {
	void (*run)(struct work_struct *work);
};
#define DECLARE_DEFERRABLE_WORK(name, run) struct delayed_work name = { run }
#define schedule_delayed_work(later, delay) ((void)(delay), shim.work = (later), shim.work_count++)
#define cancel_delayed_work_sync(work)	   ((void)(work), shim.work_count = 0)
#define nsecs_to_jiffies(ns)		   ((ns) / (NSEC_PER_SEC / HZ))

unsigned long *bitmap_zalloc(unsigned int bits, int flags);
void bitmap_free(unsigned long *map);
void bitmap_set(unsigned long *map, unsigned int start, unsigned int count);
void bitmap_clear(unsigned long *map, unsigned int start, unsigned int count);
unsigned long bitmap_find_next_zero_area(unsigned long *map, unsigned long size, unsigned long start,
					 unsigned int count, unsigned long align);

/* ---- physical memory ---- */
#define MEMREMAP_WB	     0
#define IORESOURCE_SYSTEM_RAM 0
#define IORES_DESC_NONE	     0
#define REGION_DISJOINT	     0
#define E820_TYPE_RAM	     1
void *memremap(u64 address, u64 bytes, int flags);
#define memunmap(memory)		       ((void)(memory))
#define request_mem_region(address, bytes, who) (!shim.region_is_claimed)
#define release_mem_region(address, bytes)	((void)0)
#define region_intersects(address, bytes, flags, what) (shim.memory_is_used ? 1 : REGION_DISJOINT)
#define e820__mapped_any(start, end, type)	(shim.memory_is_used)
#define e820__mapped_raw_any(start, end, type)	(shim.memory_is_ram)
#define arch_wb_cache_pmem(address, bytes)                                                                             \
	((void)(address), shim.busy_bytes += (bytes), shim.busy_bytes_most = max(shim.busy_bytes_most, shim.busy_bytes))
#define cond_resched() ((void)(shim.busy_bytes = 0))

struct file;
struct poll_table_struct;
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff;
	struct file *vm_file;
	int vm_page_prot;
	void *vm_private_data;
	const struct vm_operations_struct *vm_ops;
};
struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
	const char *(*name)(struct vm_area_struct *vma);
};
int remap_pfn_range(struct vm_area_struct *vma, unsigned long start, u64 pfn, u64 bytes, int prot);

/* ---- the module ---- */
#define module_param_named(name, variable, type, mode) void *const shim_param_##name = &variable
#define module_param(name, type, mode)		       module_param_named(name, name, type, mode)
#define MODULE_PARM_DESC(name, text)		       _Static_assert(1, "")
struct module {
	const char *version;
};
extern struct module shim_module;
#define THIS_MODULE (&shim_module)
struct shim_utsname {
	char release[65];
};
const struct shim_utsname *init_utsname(void);
#define ktime_get_ns()	    5000000000ull
#define ktime_get_real_ns() 1700000000000000000ull

/* ---- who is notified ---- */
struct notifier_block {
	int (*notifier_call)(struct notifier_block *block, unsigned long event, void *data);
	int priority;
};
#define NOTIFY_DONE 0
enum { SYS_RESTART = 1, SYS_HALT, SYS_POWER_OFF };
enum { DIE_OOPS = 1 };
extern struct shim_chain {
	int unused;
} panic_notifier_list;
#define atomic_notifier_chain_register(chain, block)   ((void)(chain), shim.panic = (block))
#define atomic_notifier_chain_unregister(chain, block) ((void)(chain), shim.panic = NULL)
#define register_reboot_notifier(block)		       (shim.reboot = (block))
#define unregister_reboot_notifier(block)	       (shim.reboot = NULL)
#define register_die_notifier(block)		       (shim.die = (block))
#define unregister_die_notifier(block)		       (shim.die = NULL)
enum { PM_HIBERNATION_PREPARE = 1, PM_POST_HIBERNATION, PM_SUSPEND_PREPARE, PM_POST_SUSPEND };
#define register_pm_notifier(block)   (shim.sleep = (block))
#define unregister_pm_notifier(block) (shim.sleep = NULL)
#define check_tsc_unstable()	      (shim.tsc_is_unstable)

struct pt_regs {
	unsigned long ip;
};
#define instruction_pointer(regs) ((regs)->ip)
struct die_args {
	struct pt_regs *regs;
	const char *str;
};
struct shim_task {
	char comm[TASK_COMM_LEN];
	int pid;
};
extern struct shim_task *current;
extern int oops_in_progress;
extern unsigned int nr_cpu_ids;

typedef struct {
	int unused;
} wait_queue_head_t;
struct irq_work {
	void (*function)(struct irq_work *work);
};
#define DECLARE_WAIT_QUEUE_HEAD(name) wait_queue_head_t name __attribute__((unused))
#define EPOLLPRI		      2u
#define wake_up_interruptible_poll(queue, events) ((void)(queue))
#define poll_wait(file, queue, table)		  ((void)(queue))
#define init_irq_work(work, f)			  ((work)->function = (f))
#define irq_work_queue(work)			  ((void)(work))
#define irq_work_sync(work)			  ((void)(work))
struct tracepoint {
	const char *name;
	void *iterator;
};
#define tracepoint_synchronize_unregister()			((void)0)

#endif /* DBK_TEST_SHIM_H */
