// SPDX-License-Identifier: Apache-2.0
//
// Cells of a state: what of an aggregation's cells is kept, and back.
//
// An engine's cells are 64 bits each (analyze/aggregate/function.hpp).  A state has those that are
// not 0, by index.  All of them are sums modulo 2^64, so that two states added cell by cell are the
// state of both, but for three:
//
//     min max     one extreme, apart from the cells
//     stddev      the 128-bit sum of squares is four limbs of 32 bits, lowest first, cells 2 to 5:
//                 4 billion of them may be added before they are carried
//     argument    of lquantize() and llquantize(), cell 0: said once, by the aggregation
#pragma once

#include "formats/aggstate/state.hpp"

namespace daybreak::formats {

/// Appends a state with the engine's cells.
void append_state(StateBlock& block, ByteView key, std::span<const uint64_t> cells);

/// Fills the engine's cells, as many as the function has, from a state's.
/// Error: corrupt, when the state has a cell that the function has not.
Result<void> fill_cells(const StateAggregation& aggregation, const StateView& state,
                        std::span<uint64_t> cells);

} // namespace daybreak::formats
