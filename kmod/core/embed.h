/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * embed.h - the enablings that came inside the module
 */
#ifndef DBK_KMOD_EMBED_H
#define DBK_KMOD_EMBED_H

/**
 * dbk_embed_enable() - makes an anonymous ring of each embedded image
 *
 * The container is as untrusted as any file.  What is refused leaves one line in
 * the log and its reason in dbk.reason; the other images go on.
 * Context: may sleep; not under [S], which is taken for each.
 */
void dbk_embed_enable(void);

#endif /* DBK_KMOD_EMBED_H */
