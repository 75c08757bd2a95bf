/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* cells.h - the cells of an aggregation.  Probe context */
#ifndef DBK_ENGINE_CELLS_H
#define DBK_ENGINE_CELLS_H

#include "engine/api/platform.h"
#include "formats/abi/dof.h"

#ifdef __cplusplus
extern "C" {
#endif

/** dbk_cells_init() - an empty aggregation's cells */
void dbk_cells_init(uint64_t *cells, uint32_t count, uint32_t kind, uint64_t arg);

/** dbk_cells_add() - one value into the cells */
void dbk_cells_add(uint64_t *cells, uint32_t kind, uint64_t arg, int64_t value, int64_t increment);

/** dbk_lquantize_bucket() - counted after the argument: 0 is below, then the levels, then above */
uint32_t dbk_lquantize_bucket(uint64_t arg, int32_t value);

#ifdef __cplusplus
}
#endif

#endif /* DBK_ENGINE_CELLS_H */
