/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - names of the kernel that are not exported, and the types in its BTF
 */
#ifndef DBK_KMOD_SYMBOLS_H
#define DBK_KMOD_SYMBOLS_H

#include <linux/types.h>

struct module;

/** dbk_symbols_init() - finds kallsyms_lookup_name().  Return: 0, or a negative errno: no symbol
 * can be found. */
int dbk_symbols_init(void);

/** dbk_symbol() - address of a symbol of the kernel, 0 when there is none.  Context: may sleep. */
unsigned long dbk_symbol(const char *name);

/** dbk_function() - the same of a function, to be called.  Context: init, or [S]. */
void *dbk_function(const char *name);

/** dbk_symbol_bytes() - size of the function at @address, 0 when unknown */
unsigned long dbk_symbol_bytes(unsigned long address);

/** dbk_symbols_walk() - calls @each for every symbol of the kernel itself, by address, until it
 * returns not 0.  Return: what @each returned last, or -ENOENT. */
int dbk_symbols_walk(int (*each)(void *data, const char *name, unsigned long address), void *data);

/* What a tracepoint's prototype says, without the leading pointer. */
#define DBK_TRACEPOINT_ARGS_MAX 10

struct dbk_tracepoint_args {
	u8 count;    /* of the prototype; only the first DBK_TRACEPOINT_ARGS_MAX are described */
	bool narrow; /* some argument is smaller than a register: its upper bits are garbage */
	u8 shift[DBK_TRACEPOINT_ARGS_MAX]; /* 64 minus the argument's bits */
	u16 is_signed;			   /* bit i: argument i is signed */
};

/**
 * dbk_btf_tracepoint() - the arguments of the tracepoint @name of @module (NULL: the kernel)
 * @is_coming: its init has not run; afterwards its BTF is asked of the kernel
 *
 * Context: may sleep.
 * Return: whether BTF knows it; else @args_ret is untouched.
 */
bool dbk_btf_tracepoint(const struct module *module, bool is_coming, const char *name,
			struct dbk_tracepoint_args *args_ret);

/**
 * dbk_btf_member() - where the kernel's struct @of, as its BTF has it, has the member @member, which is in no struct or
 * union without a name
 *
 * Context: may sleep.
 * Return: bytes, or -ENOENT.
 */
int dbk_btf_member(const char *of, const char *member);

/** dbk_btf_release() - gives back the index over the kernel's BTF, which is built when needed */
void dbk_btf_release(void);

#endif /* DBK_KMOD_SYMBOLS_H */
