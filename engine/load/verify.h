/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * verify.h - the verifier's one entrance
 */
#ifndef DBK_ENGINE_VERIFY_H
#define DBK_ENGINE_VERIFY_H

#include "engine/load/program.h"

/**
 * dbk_difo_verify() - decodes @code into @difo->insns, if every instruction is safe to run
 * @code: @difo->insn_count instructions of DIF
 *
 * The tables of @difo are loaded, and room for the decoded instructions is there.
 *
 * Return: 0; or -EINVAL, with the reason said.
 */
int dbk_difo_verify(struct dbk_loader *loader, struct dbk_difo *difo, const uint8_t *code);

#endif /* DBK_ENGINE_VERIFY_H */
