// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: partial states from arbitrary bytes, as a file and as a bare message.  What is read
// holds together: it is covered, its keys are a table's, its cells a function's.
#include "analyze/replay/canonical.hpp"
#include "formats/aggstate/cells.hpp"
#include "formats/aggstate/coverage.hpp"
#include "formats/aggstate/reader.hpp"

using namespace daybreak;
using namespace daybreak::formats;

namespace {

/// What a merge does with it, but for the program.
class Taker {
public:
    Result<bool> part(const StatePart& part) {
        coverage_.add(part, "part");
        places_.add(part.identity.boot_id, part.images);
        places_.finish();
        return true;
    }

    Result<void> states(const StateBlock& block) {
        analyze::AggregationLayout layout = analyze::layout_of(block.aggregation, 1);
        auto number = table_.intern(layout);
        auto cell_count = layout.function.cell_count();
        if (!number || !cell_count)
            return base::errorf(ErrorCode::corrupt, "no function");
        std::vector<uint64_t> cells(*cell_count);
        StateCursor cursor(block);
        for (StateView state; cursor.next(state);) {
            DBK_TRY_VOID(fill_cells(block.aggregation, state, cells));
            DBK_TRY_VOID(
                analyze::make_table_key(state.key, layout, places_, kernel_place_, files_, key_));
            if (!table_.merge(*number, 1, key_.bytes(), cells))
                return base::errorf(ErrorCode::limit, "full");
        }
        return {};
    }

    void end() {
        (void)coverage_.finish().ok();
        for (const analyze::AggregationEntry& entry : table_.entries())
            (void)table_.members_of(entry);
    }

private:
    CoverageMerge coverage_;
    analyze::PlacesByName places_by_name_;
    analyze::KernelPlaceOf kernel_place_ = [this](KeyTag, uint64_t address, bool) {
        return places_by_name_.symbol("m", std::to_string(address % 64));
    };
    analyze::FramePlaces places_;
    analyze::FileNames files_;
    analyze::AggregationTable table_{16u << 20};
    analyze::AggregationKey key_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ByteView bytes = std::as_bytes(std::span(data, size));
    Taker of_file, of_message;
    StateVisitor visitor;
    visitor.part = [&](const StatePart& part) { return of_file.part(part); };
    visitor.symbols = [](const StateSymbols&) { return Result<void>(); };
    visitor.states = [&](const StateBlock& block) { return of_file.states(block); };
    visitor.part_end = [](const Digest&) { return Result<void>(); };
    (void)read_states(base::view_source(bytes), "fuzz", visitor).ok();
    of_file.end();
    if (auto message = decode_state_message(bytes); message.ok()) {
        if (const auto* part = std::get_if<StatePart>(&*message))
            (void)of_message.part(*part).ok();
        if (const auto* block = std::get_if<StateBlock>(&*message))
            (void)of_message.states(*block).ok();
    }
    of_message.end();
    return 0;
}
