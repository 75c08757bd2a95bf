/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fbt.h - between the two halves of provider fbt
 *
 * fbt_table.c knows which functions there are, and publishes probes for those
 * that somebody named or listed.  fbt.c hooks enabled ones into ftrace.
 *
 * A function may have several names (aliases: __x64_sys_getppid and
 * __do_sys_getppid are one address).  Each name is a symbol of the table; the
 * first by address order is its primary one, which lists and globs see; the
 * others exist for those who ask for them by their exact name.
 */
#ifndef DBK_KMOD_FBT_H
#define DBK_KMOD_FBT_H

#include "kmod/core/provider.h"

struct module;

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
	unsigned long address;	 /* [C] of the function */
	unsigned long site;	 /* [C] where ftrace patches: the same, or behind an endbr */
	u32 name;		 /* [C] offset in the group's names */
	bool is_alias;		 /* [C] not the first name of its address */
	struct fbt_probe *probe; /* [S] NULL until somebody asked for it */
};

struct fbt_set;

struct fbt_probe {
	struct dbk_probe probe;
	unsigned long address;	  /* [C] */
	unsigned long site;	  /* [C] */
	struct module *module;	  /* [C] */
	struct fbt_set *set;	  /* [S] where it is hooked, NULL: nowhere */
	struct fbt_probe *next;	  /* [R] the next probe of the same hash slot of its set */
	struct list_head pending; /* [S] to be hooked at the next settle */
	bool idle;		  /* [S] lost its last ECB, to be unhooked at the next settle */
};

/** fbt_table_provide() - publishes the functions that @description names.  Context: [S]. */
int fbt_table_provide(const struct dbk_probedesc *description);

/** fbt_table_add_module() - a module came; publishes what rings at work had asked for */
void fbt_table_add_module(struct module *module);

/** fbt_table_remove_module() - forgets its functions; none is enabled any more when it returns */
void fbt_table_remove_module(struct module *module);

/** fbt_table_free() - forgets all */
void fbt_table_free(void);

/** fbt_hooks_drop_module() - unhooks every probe of @module.  Context: [S]. */
void fbt_hooks_drop_module(const struct module *module);

#endif /* DBK_KMOD_FBT_H */
