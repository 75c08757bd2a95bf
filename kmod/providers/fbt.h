/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fbt.h - between the two halves of provider fbt
 *
 * fbt_table.c knows which functions there are, and publishes probes for those
 * that a program named or a listing asked for.  fbt.c hooks enabled ones into ftrace.
 *
 * A function may have several names (aliases: a system call's without arguments
 * has two).  Each name is a symbol of the table; the
 * first by address order is its primary one, which lists and globs see; the
 * others exist for those who ask for them by their exact name.
 *
 * Each function has two probes:
 *
 *   entry   arg0 .. are the function's arguments
 *   return  arg0: -1, because from where in the function it returned is not known;
 *           arg1: what it returned
 *
 * A return is noticed by a hook at the entry, which fires the entry's probe as well when both are
 * enabled together: with two hooks on one site the kernel walks a list and looks the site up in the
 * filter of each.
 */
#ifndef DBK_KMOD_FBT_H
#define DBK_KMOD_FBT_H

#include <linux/ftrace.h>
#include <linux/hash.h>

#include "arch/ftrace_args.h"
#include "arch/stack.h"
#include "kmod/frame.h"
#include "kmod/providers/provider.h"

struct module;

enum fbt_kind { FBT_ENTRY, FBT_RETURN, FBT_KINDS };

/* What a module, or the kernel itself, has. */
struct fbt_group {
	struct list_head link;	    /* [S] in the table */
	struct module *module;	    /* [C] NULL: the kernel */
	struct fbt_symbol *symbols; /* [C] after the group is filled; by address */
	u32 symbol_count;	    /* [C] */
	char *names;		    /* [C] back to back, each with its NUL */
};

/* One name of one function. */
struct fbt_symbol {
	unsigned long address; /* [C] of the function */
	unsigned long site;    /* [S] where ftrace patches: the same, or a little after it; 0: not
				  asked yet */
	u32 name;	       /* [C] offset in the group's names */
	bool is_alias;	       /* [C] not the first name of its address, as far as module_walk() sees it */
	struct fbt_probe *probes[FBT_KINDS]; /* [S] NULL until it was asked for */
};

/* Probes that are hooked together. */
struct fbt_set {
	struct list_head link;	/* [S] in sets */
	struct ftrace_ops ops;	  /* has the filter */
	bool is_lost;		  /* [S] the kernel goes on calling it: it is never freed */
	struct module *module;	  /* [C] */
	enum fbt_kind kind;	  /* [C] of its hooks; of RETURN may have entries of the same sites */
	bool armed;		  /* [S] it fires: its sites are patched, and those of other new sets; [R] */
	unsigned long *sites;	  /* [S] scratch for filters */
	u32 count;		  /* [S] sites hooked */
	u32 early;		  /* [S] of them, those that are not hooked in the batch of called_to_patch */
	bool some_idle;		  /* [S] of its probes */
	u32 slot_count;		  /* [C] 2 to the power of 64 less hash_shift */
	u32 hash_shift;		  /* [C] */
	struct fbt_probe **slots; /* [R] */
	struct rethook *rethook;  /* [C] FBT_RETURN */
};

/* What a hook does, interrupts off, when its function is called, @args being its first 6 arguments, or has returned: -1, what
 * it returned, its first argument. */
typedef void fbt_fire(struct fbt_probe *fbt, const u64 *args, const struct dbk_frame *frame);

struct fbt_probe {
	struct dbk_probe probe;
	struct dbk_probe *target; /* [C] whose enabling counts: its own, or another provider's */
	fbt_fire *fire;		  /* [C] another provider's; NULL: its own probe is fired */
	unsigned long address;	  /* [C] */
	unsigned long site;	  /* [C] */
	struct module *module;	  /* [C] */
	enum fbt_kind kind;	  /* [C] */
	struct fbt_set *set;	  /* [S] where it is hooked, NULL: nowhere */
	struct fbt_probe *next;	  /* [R] the next probe of the same hash slot of its set */
	struct list_head pending; /* [S] to be hooked at the next settle */
	bool idle;		  /* [S] lost its last ECB, to be unhooked at the next settle */
};

/** fbt_table_provide() - publishes the functions that @description names.  Context: [S]. */
int fbt_table_provide(const struct dbk_provider *self, const struct dbk_requester *requester,
		      const struct dbk_probedesc *description);

/** fbt_table_add_module() - a module came; publishes what rings at work had asked for */
void fbt_table_add_module(struct module *module);

/** fbt_table_remove_module() - forgets its functions; none is enabled any more when it returns */
void fbt_table_remove_module(struct module *module);

/** fbt_table_free() - forgets all */
void fbt_table_free(void);

/** fbt_is_own_path() - whether the probe path calls the function @name itself: it is not probed */
bool fbt_is_own_path(const char *name);

/**
 * fbt_hook_init() - makes @fbt, which is zero, a hook of another provider's
 * @target:  the hook is looked at while this has an ECB
 * @address: of a function of the kernel
 *
 * Context: [S].  Return: whether the function can be hooked so.
 */
bool fbt_hook_init(struct fbt_probe *fbt, struct dbk_probe *target, unsigned long address,
		   enum fbt_kind kind, fbt_fire *fire);

/** fbt_hook() and fbt_unhook() - at the next settle.  Context: [S]. */
void fbt_hook(struct fbt_probe *fbt);
void fbt_unhook(struct fbt_probe *fbt);

/** fbt_is_hooked() - whether what was fbt_hook()ed is called when its function is.  Context: [S]. */
bool fbt_is_hooked(const struct fbt_probe *fbt);

/** fbt_hooks_drop_module() - unhooks every probe of @module.  Context: [S]. */
void fbt_hooks_drop_module(const struct module *module);

/** fbt_slot() - where @set has the probes that may be hooked at @ip.  Probe context. */
static __probe_ctx_inline struct fbt_probe **fbt_slot(const struct fbt_set *set, unsigned long ip)
{
	return &set->slots[ip * GOLDEN_RATIO_64 >> set->hash_shift];
}

/** fbt_first() - the first of a slot, of which those count that fbt_is_at(); NULL while the set is not
 * armed.  Probe context. */
static __probe_ctx_inline struct fbt_probe *fbt_first(const struct fbt_set *set,
						      struct fbt_probe **slot)
{
	return likely(READ_ONCE(set->armed)) ? *slot : NULL;
}

static __probe_ctx_inline bool fbt_is_at(const struct fbt_probe *fbt, unsigned long ip)
{
	return fbt->site == ip && dbk_probe_is_enabled(fbt->target);
}

/** fbt_fire_other_entry() - the entry of a function that another provider's probe is hooked at.  Probe
 * context. */
void fbt_fire_other_entry(struct fbt_probe *fbt, struct ftrace_regs *fregs,
			  const struct dbk_frame *frame);

/** fbt_fire_entry() - a function that is probed at its entry was called.  Probe context, interrupts off.
 * Inlined: a call costs as much as the rest of it. */
static __probe_ctx_inline void fbt_fire_entry(struct fbt_probe *fbt, unsigned long parent_ip,
					      struct ftrace_regs *fregs)
{
	struct dbk_frame frame = {
		.kind = DBK_FRAME_FUNCTION,
		.ip = fbt->address,
		.parent_ip = parent_ip,
		.sp = dbk_ftrace_stack_pointer(fregs),
	};

	if (unlikely(dbk_stack_is_cramped()))
		dbk_probe_missed(fbt->target, 1);
	else if (fbt->fire)
		fbt_fire_other_entry(fbt, fregs, &frame);
	else
		dbk_probe_fire(&fbt->probe, dbk_ftrace_registers(fregs), &frame);
}

/** fbt_returns_init() - whether this kernel lets us follow returns */
bool fbt_returns_init(void);

/** fbt_returns_take_entries() - whether a set of kind FBT_RETURN fires the entries that are in it */
bool fbt_returns_take_entries(void);

/** fbt_returns_create() - makes what a set of kind FBT_RETURN follows calls with, and its hook what calls
 * it; before the hook is registered.  Context: [S].  Return: 0 or a negative errno. */
int fbt_returns_create(struct fbt_set *set);

/** fbt_returns_free() - after the hook is out: when it returns, no code of the module is called for the
 * set any more; calls that are still inside of their functions return unseen.  Context: [S]. */
void fbt_returns_free(struct fbt_set *set);

#endif /* DBK_KMOD_FBT_H */
