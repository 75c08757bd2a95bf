// SPDX-License-Identifier: Apache-2.0
//
// Aggregating functions: what count() to llquantize() do to their cells, as the engine does it.
//
// The cells are those of an aggregation buffer, 64 bits each, so that values counted by the engine
// and values replayed from records meet in the same form:
//
//     count sum min max   [value]
//     avg                 [count, sum]
//     stddev              [count, sum, sum of squares low, high]
//     quantize            127 buckets, the 64th is zero
//     lquantize           [argument, below, levels ..., above]
//     llquantize          [argument, below, ranges ..., around zero, ranges ..., above]
#pragma once

#include "engine/shared/cells.h"
#include "formats/abi/dof.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace daybreak::analyze {

/// The most cells an aggregation may have; a linear quantization of 65535 levels is the largest
/// that D can ask for.
constexpr size_t kCellsMax = 1u << 17;

/// The argument of llquantize(), taken apart: steps<<48 | high<<32 | low<<16 | factor.
struct LogLinear {
    uint32_t factor = 0, low = 0, high = 0, steps = 0;

    /// Empty when the argument is none that D can make.
    static std::optional<LogLinear> parse(uint64_t argument);
    /// Cells of one order of magnitude.
    size_t bins_per_range() const { return steps - steps / factor; }
    size_t bins_per_side() const { return (high - low + 1) * bins_per_range(); }
    /// Cells after the argument; the one around zero is at bins_per_side() + 1.
    size_t bins() const { return 2 * bins_per_side() + 3; }
    size_t centre() const { return bins_per_side() + 1; }
    /// Returns the bound nearest to zero of the bin that lies `distance` from the centre, at least
    /// 1; of the outermost, where the ranges end.
    unsigned __int128 bound(size_t distance) const;
    /// Returns whether no integer can fall into that bin: its range is narrower than 1.
    bool is_ghost(size_t distance) const;
};

/// The value at which quantize()'s bucket begins (negative ones: ends).
int64_t quantize_bucket_value(size_t bucket);

/// One aggregating function with its parameters.
struct AggregationFunction {
    uint32_t kind = DTRACEAGG_COUNT; ///< DTRACEAGG_
    uint64_t argument = 0;           ///< of lquantize() and llquantize(), else 0

    bool operator==(const AggregationFunction&) const = default;

    /// Returns how many cells a value has; empty for a kind or argument that D cannot make.
    std::optional<size_t> cell_count() const;
    /// Whether values print as blocks of lines.
    bool is_distribution() const { return kind >= DTRACEAGG_QUANTIZE; }

    /// Cells must have cell_count() elements in all of these.
    void init(std::span<uint64_t> cells) const {
        dbk_cells_init(cells.data(), static_cast<uint32_t>(cells.size()), kind, argument);
    }
    void update(std::span<uint64_t> cells, int64_t value, int64_t increment) const {
        dbk_cells_add(cells.data(), kind, argument, value, increment);
    }
    /// Adds what another CPU or snapshot counted; min and max pick.
    void merge(std::span<uint64_t> into, std::span<const uint64_t> from) const;
};

/// Functions of the aggregation variables, by id: what a variable without a value under some key
/// prints there.
using AggregationFunctions = std::map<uint32_t, AggregationFunction>;

/// A value to be printed: the cells under one key and what they are divided by.
struct AggregationView {
    const AggregationFunction& function;
    std::span<const uint64_t> cells;
    uint64_t normal = 1;
};

/// Returns `value` divided by `normal` as signed numbers; 0 when `normal` is 0.
int64_t normalized(int64_t value, uint64_t normal);
/// Returns the average; 0 when nothing was counted.
int64_t average_of(std::span<const uint64_t> cells, uint64_t normal);
/// Returns the standard deviation, rounded down; 0 when nothing was counted.
uint64_t stddev_of(std::span<const uint64_t> cells, uint64_t normal);

/// Returns <0, 0 or >0 as the value in `a` sorts before, with or after that in `b`.
int compare_values(const AggregationFunction& function, std::span<const uint64_t> a,
                   std::span<const uint64_t> b);

} // namespace daybreak::analyze
