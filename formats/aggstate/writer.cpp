// SPDX-License-Identifier: Apache-2.0
//
// Writing a file of partial states.
#include "formats/aggstate/writer.hpp"

#include "formats/aggstate/cells.hpp"
#include "formats/aggstate/message.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/message.hpp"

namespace daybreak::formats {

namespace {

constexpr int kZstdLevel = 3;

bool is_same(const StateAggregation& a, const StateAggregation& b) {
    auto is_same_type = [](const StateKeyType& x, const StateKeyType& y) {
        return x.tag == y.tag && x.bytes == y.bytes && x.action == y.action &&
               x.is_signed == y.is_signed;
    };
    return a.name == b.name && a.function == b.function && a.argument == b.argument &&
           std::equal(a.key_types.begin(), a.key_types.end(), b.key_types.begin(),
                      b.key_types.end(), is_same_type);
}

} // namespace

struct StateWriter::State {
    TraceSink sink;
    BlockMaker maker;
    StateBlock block;
    uint32_t blocks = 0;
    uint64_t bytes = 0;
};

StateWriter::StateWriter(TraceSink sink) : state_(std::make_unique<State>()) {
    state_->sink = std::move(sink);
}

StateWriter::~StateWriter() = default;

Result<void> StateWriter::put(enum dbk_trace_type type, ByteView raw) {
    if (raw.size() > kStateRawBytesMax)
        return base::errorf(ErrorCode::limit,
                            "partial states: a message of %zu bytes, %zu are the most", raw.size(),
                            kStateRawBytesMax);
    ByteView made = state_->maker.make(type, state_->blocks, raw, kZstdLevel);
    DBK_TRY_VOID(state_->sink(made));
    state_->blocks++;
    state_->bytes += made.size();
    return {};
}

Result<void> StateWriter::flush() {
    if (state_->block.empty())
        return {};
    Bytes raw = encode_states(state_->block);
    state_->block.clear_states();
    return put(DBK_TRACE_STATES, raw);
}

Result<void> StateWriter::begin_part(const StatePart& part) {
    DBK_TRY_VOID(flush());
    return put(DBK_TRACE_PART, encode_part(part));
}

Result<void> StateWriter::add_symbols(const StateSymbols& symbols) {
    return put(DBK_TRACE_STATES, encode_symbols(symbols));
}

Result<void> StateWriter::add(const StateAggregation& aggregation, ByteView key,
                              std::span<const uint64_t> cells) {
    if (!is_same(aggregation, state_->block.aggregation)) {
        DBK_TRY_VOID(flush());
        state_->block.aggregation = aggregation;
    }
    append_state(state_->block, key, cells);
    return state_->block.raw_bytes() < kBlockRawBytes ? Result<void>() : flush();
}

Result<void> StateWriter::finish() {
    DBK_TRY_VOID(flush());
    return put(DBK_TRACE_END, encode_end({state_->blocks, state_->bytes, 0}));
}

} // namespace daybreak::formats
