// SPDX-License-Identifier: Apache-2.0
//
// Cells of a state: zeros left out, squares in limbs.
#include "formats/aggstate/cells.hpp"

#include <algorithm>

namespace daybreak::formats {

namespace {

using U128 = unsigned __int128;

constexpr size_t kFirstLimb = 2, kLimbs = 4;
constexpr unsigned kLimbBits = 32;

bool has_argument(uint32_t function) {
    return function == DTRACEAGG_LQUANTIZE || function == DTRACEAGG_LLQUANTIZE;
}

void put_cell(StateBlock& block, size_t index, uint64_t value) {
    if (value == 0)
        return;
    block.indexes.push_back(static_cast<uint32_t>(index));
    block.values.push_back(value);
    block.cell_counts.back()++;
}

} // namespace

bool StateAggregation::has_extremes() const {
    return function == DTRACEAGG_MIN || function == DTRACEAGG_MAX;
}

void StateBlock::clear_states() {
    keys.clear();
    key_bytes.clear();
    cell_counts.clear();
    indexes.clear();
    values.clear();
    extremes.clear();
}

bool StateCursor::next(StateView& view) {
    if (at_ == block_.size())
        return false;
    size_t key = block_.key_bytes[at_], cells = block_.cell_counts[at_];
    view.key = ByteView(block_.keys).subspan(key_, key);
    view.indexes = std::span(block_.indexes).subspan(cell_, cells);
    view.values = std::span(block_.values).subspan(cell_, cells);
    view.extreme.reset();
    if (!block_.extremes.empty())
        view.extreme = block_.extremes[at_];
    key_ += key;
    cell_ += cells;
    at_++;
    return true;
}

void append_state(StateBlock& block, ByteView key, std::span<const uint64_t> cells) {
    block.keys.insert(block.keys.end(), key.begin(), key.end());
    block.key_bytes.push_back(static_cast<uint32_t>(key.size()));
    block.cell_counts.push_back(0);
    uint32_t function = block.aggregation.function;
    if (block.aggregation.has_extremes()) {
        block.extremes.push_back(static_cast<int64_t>(cells[0]));
        return;
    }
    bool is_stddev = function == DTRACEAGG_STDDEV;
    size_t plain = is_stddev ? kFirstLimb : cells.size();
    for (size_t i = has_argument(function) ? 1 : 0; i < plain; i++)
        put_cell(block, i, cells[i]);
    for (size_t limb = 0; is_stddev && limb < kLimbs; limb++)
        put_cell(block, kFirstLimb + limb,
                 cells[kFirstLimb + limb / 2] >> (limb % 2 * kLimbBits) & UINT32_MAX);
}

Result<void> fill_cells(const StateAggregation& aggregation, const StateView& state,
                        std::span<uint64_t> cells) {
    std::fill(cells.begin(), cells.end(), 0);
    if (aggregation.has_extremes()) {
        cells[0] = static_cast<uint64_t>(state.extreme.value_or(0));
        return {};
    }
    bool is_stddev = aggregation.function == DTRACEAGG_STDDEV;
    size_t first = has_argument(aggregation.function) ? 1 : 0;
    size_t end = is_stddev ? kFirstLimb + kLimbs : cells.size();
    if (first != 0)
        cells[0] = aggregation.argument;
    U128 square = 0;
    for (size_t i = 0; i < state.indexes.size(); i++) {
        size_t index = state.indexes[i];
        if (index < first || index >= end)
            return base::errorf(ErrorCode::corrupt, "a state of @%s has a cell %zu",
                                aggregation.name.c_str(), index);
        if (is_stddev && index >= kFirstLimb) // may have been added up: not below 2^32 then
            square += U128{state.values[i]} << ((index - kFirstLimb) * kLimbBits);
        else
            cells[index] = state.values[i];
    }
    if (is_stddev) {
        cells[kFirstLimb] = static_cast<uint64_t>(square);
        cells[kFirstLimb + 1] = static_cast<uint64_t>(square >> 64);
    }
    return {};
}

} // namespace daybreak::formats
