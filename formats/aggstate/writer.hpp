// SPDX-License-Identifier: Apache-2.0
//
// Writing a file of partial states: blocks as a trace file has them, an END last.
//
// The order is: create(), then for each part begin_part(), its symbols, its states, then finish().
#pragma once

#include "formats/aggstate/state.hpp"
#include "formats/trace/writer.hpp"

#include <memory>

namespace daybreak::formats {

class StateWriter {
public:
    /// A block is written when so many bytes of states are gathered.
    static constexpr size_t kBlockRawBytes = 1u << 20;

    explicit StateWriter(TraceSink sink);
    ~StateWriter();

    /// Errors of all of these: those of the sink; limit: a part of more than kStateRawBytesMax.
    Result<void> begin_part(const StatePart& part);
    Result<void> add_symbols(const StateSymbols& symbols);
    /// Adds a state with the engine's cells.
    Result<void> add(const StateAggregation& aggregation, ByteView key,
                     std::span<const uint64_t> cells);
    Result<void> finish();

private:
    struct State;
    Result<void> put(enum dbk_trace_type type, ByteView raw);
    Result<void> flush();

    std::unique_ptr<State> state_;
};

} // namespace daybreak::formats
