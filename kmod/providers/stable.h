/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stable.h - between the rows of the stable providers (stable_rows.c) and what hooks them (stable.c)
 */
#ifndef DBK_KMOD_STABLE_H
#define DBK_KMOD_STABLE_H

#include "kmod/kernel/tracepoint.h"
#include "kmod/providers/fbt.h"

enum stable_kind { TRACEPOINT, ENTRY, RETURN };

/* Constant and small: a boot reads all of them, and uses few. */
struct stable_row {
	void *callback;
	u16 text; /* of the row, in stable_texts: provider, module, function, name, where, each with its NUL */
	u8 kind;
	u8 arg_count;
};

extern const struct stable_row stable_rows[];
extern const u32 stable_row_count;
extern const char *const stable_texts;
extern const u32 stable_text_bytes;

/* What a callback is called with: one is part of a place, or on the stack while a function fires. */
struct stable_firing {
	struct dbk_probe *probe;
	const struct dbk_frame *frame;
};

/* A row that this kernel has the place of. */
struct stable_place {
	const struct stable_row *row; /* [C] */
	struct dbk_probe probe;	      /* of the first place of the name */
	struct stable_place *next;    /* [S] of the same probe */
	struct list_head link;	      /* [S] of all */
	struct stable_firing firing;  /* [C] */
	struct dbk_tracepoint_hook hook; /* [S] no tracepoint: a function */
	struct dbk_frame frame;	      /* [C] of the tracepoint */
	struct fbt_probe fbt;	      /* of the function */
	bool wanted;		      /* [S] of a tracepoint */
};

/** stable_has_provider() - whether a row is of a provider @name */
bool stable_has_provider(const char *name);

/** dbk_is_last_exit() - whether @task, which leaves, is the last of its process; true once.  Context: Probe context. */
bool dbk_is_last_exit(const struct task_struct *task);

/** stable_on_function() - a function that is hooked for a place was called, or returned */
fbt_fire stable_on_function;

#endif /* DBK_KMOD_STABLE_H */
