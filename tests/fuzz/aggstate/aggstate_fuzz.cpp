// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: partial states from arbitrary bytes, as a file and as a bare message.  What is read
// holds together: it is covered, its keys are a table's, its cells a function's; and a file that
// can be read is merged, with itself and with the good one that came first, of another boot.
#include "analyze/replay/merged.hpp"
#include "formats/aggstate/cells.hpp"
#include "formats/aggstate/coverage.hpp"
#include "formats/aggstate/message.hpp"
#include "formats/aggstate/reader.hpp"
#include "formats/aggstate/writer.hpp"

#include <sys/mman.h>
#include <unistd.h>

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

/// A file of these bytes, by a path.
class MemoryFile {
public:
    explicit MemoryFile(ByteView bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        DBK_ASSERT(file_.valid());
        DBK_ASSERT(::write(file_.get(), bytes.data(), bytes.size()) ==
                   static_cast<ssize_t>(bytes.size()));
    }
    std::string path() const { return base::strprintf("/proc/self/fd/%d", file_.get()); }

private:
    base::ScopedFd file_;
};

void merge(std::initializer_list<const MemoryFile*> files) {
    analyze::MergedStates merged;
    for (const MemoryFile* file : files)
        if (!merged.add(file->path()).ok())
            return;
    (void)merged.coverage().ok();
    analyze::StringSink sink;
    analyze::ReportOptions options;
    options.aggregation_bytes_max = 4u << 20;
    if (!merged.parts().empty())
        (void)merged.run(std::move(options), sink).ok();
}

/// The file that came first, and its part.
struct First {
    explicit First(ByteView bytes) : file(bytes) {
        StateVisitor visitor;
        visitor.part = [this](const StatePart& one) {
            part = one;
            return false;
        };
        visitor.part_end = [](const Digest&) { return Result<void>(); };
        DBK_ASSERT(read_states(base::view_source(bytes), "first", visitor).ok());
    }
    MemoryFile file;
    StatePart part;
};

/// Merges the first file with one that says what a message does, checksums and all.
void merge_with(const First& first, const StateMessage& message) {
    Bytes file;
    StateWriter writer([&file](ByteView bytes) {
        file.insert(file.end(), bytes.begin(), bytes.end());
        return Result<void>();
    });
    const auto* part = std::get_if<StatePart>(&message);
    const auto* symbols = std::get_if<StateSymbols>(&message);
    StatePart own = part ? *part : first.part;
    own.identity.program = first.part.identity.program;
    own.identity.boot_id++;
    if (!writer.begin_part(own).ok() || (symbols && !writer.add_symbols(*symbols).ok()) ||
        !writer.finish().ok())
        return;
    const MemoryFile second(file);
    merge({&first.file, &second});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ByteView bytes = std::as_bytes(std::span(data, size));
    Taker of_file, of_message;
    StateVisitor visitor;
    visitor.part = [&](const StatePart& part) { return of_file.part(part); };
    visitor.symbols = [](const StateSymbols&) { return Result<void>(); };
    visitor.states = [&](const StateBlock& block) { return of_file.states(block); };
    visitor.part_end = [](const Digest&) { return Result<void>(); };
    const bool is_whole = read_states(base::view_source(bytes), "fuzz", visitor).ok();
    of_file.end();
    static std::optional<First> first;
    if (is_whole) {
        if (!first)
            first.emplace(bytes);
        const MemoryFile file(bytes);
        merge({&file, &file});
        merge({&first->file, &file});
    }
    if (auto message = decode_state_message(bytes); message.ok()) {
        if (const auto* part = std::get_if<StatePart>(&*message))
            (void)of_message.part(*part).ok();
        if (const auto* block = std::get_if<StateBlock>(&*message))
            (void)of_message.states(*block).ok();
        if (first)
            merge_with(*first, *message);
    }
    of_message.end();
    return 0;
}
