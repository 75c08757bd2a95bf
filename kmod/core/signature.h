/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * signature.h - a module that takes signed programs only
 *
 * Parameter require_signed=1, or always, when it was built so
 * (docs/design/0050-signed-programs.md).
 */
#ifndef DBK_KMOD_SIGNATURE_H
#define DBK_KMOD_SIGNATURE_H

#include "engine/api/engine.h"

/**
 * dbk_signature_check() - whether a program may be enabled as far as its signature goes
 * @untrusted_dof: @bytes of it
 * @bytes:         without the signature afterwards, when one is required: only this may be loaded
 * @reason:        filled when it is refused
 *
 * Context: may sleep; not under [S]: the kernel may load a module for the hash.
 * Return: 0, or a negative errno.
 */
int dbk_signature_check(const void *untrusted_dof, size_t *bytes, struct dbk_reason *reason);

#endif /* DBK_KMOD_SIGNATURE_H */
