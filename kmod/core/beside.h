/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * beside.h - the programs that lie in a folder beside the module
 *
 * Parameter programs=FOLDER.  The module stays as it was signed, whatever the programs are
 * (docs/design/0049-programs-beside-the-module.md).
 */
#ifndef DBK_KMOD_BESIDE_H
#define DBK_KMOD_BESIDE_H

/**
 * dbk_beside_enable() - makes an anonymous ring of each FOLDER/NAME.dof, in the order of the names
 *
 * Files are as untrusted as any DOF.  What is refused leaves one line in the log, which names
 * the file, and its reason in dbk.reason; the other files go on.
 *
 * Context: may sleep; not under [S], which is taken for each: no file is read under it.
 */
void dbk_beside_enable(void);

#endif /* DBK_KMOD_BESIDE_H */
