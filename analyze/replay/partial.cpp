// SPDX-License-Identifier: Apache-2.0
//
// Partial states of a replay: what its part is, and its aggregations in canonical order.
#include "analyze/replay/partial.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/replay/canonical.hpp"
#include "analyze/replay/kernel_images.hpp"
#include "base/sha256.hpp"
#include "formats/aggstate/cells.hpp"
#include "formats/aggstate/coverage.hpp"

#include <algorithm>
#include <span>

namespace daybreak::analyze {

namespace {

/// Symbols of one message.
constexpr size_t kSymbolsPerMessage = 4096;

/// Symbols by place, with their modules' names.
using FoundSymbols = std::map<uint64_t, formats::StateSymbol>;

/// Adds what decides how an address prints: the symbol that it lies in, or an end where the nearest
/// one below it has nothing to do with it.
void add_symbol_of(uint64_t address, const formats::SymbolTable& symbols, FoundSymbols& found) {
    const std::vector<formats::Symbol>& all = symbols.symbols();
    auto below = std::upper_bound(
        all.begin(), all.end(), address,
        [](uint64_t value, const formats::Symbol& symbol) { return value < symbol.address; });
    if (below == all.begin())
        return;
    --below;
    while (below != all.begin() && std::prev(below)->address == below->address)
        --below; // of several at one address the first
    bool is_named = symbols.find(address).has_value();
    if (!is_named && address - below->address > formats::kSymbolBytesMax)
        return; // no reader gives it that name
    formats::StateSymbol symbol{{std::nullopt, below->address},
                                below->type,
                                is_named ? below->name : "_end",
                                symbols.modules()[below->module]};
    auto [at, is_new] = found.try_emplace(below->address, symbol);
    if (is_named && !is_new)
        at->second = symbol;
}

base::Result<void> write_symbols(formats::StateWriter& writer,
                                 std::span<const formats::StateSymbol> symbols) {
    while (!symbols.empty()) {
        auto some = symbols.first(std::min(symbols.size(), kSymbolsPerMessage));
        DBK_TRY_VOID(writer.add_symbols({{some.begin(), some.end()}}));
        symbols = symbols.subspan(some.size());
    }
    return {};
}

base::Result<void> write_symbols(formats::StateWriter& writer, const FoundSymbols& found) {
    std::vector<formats::StateSymbol> symbols;
    for (const auto& [address, symbol] : found)
        symbols.push_back(symbol);
    return write_symbols(writer, symbols);
}

/// Writes the names of all addresses: of frames in their images, of integers as they are.
base::Result<void> write_names(formats::StateWriter& writer, const ImageIndex& index,
                               const KernelAddresses& addresses,
                               const formats::SymbolTable& symbols) {
    FoundSymbols found;
    for (uint64_t address : addresses.frames)
        add_symbol_of(address, symbols, found);
    for (auto& [address, symbol] : found)
        symbol.frame = index.frame_of(address);
    DBK_TRY_VOID(write_symbols(writer, found));
    found.clear();
    for (uint64_t address : addresses.integers)
        add_symbol_of(address, symbols, found);
    return write_symbols(writer, found);
}

/// Whether keys have places in the kernel: else nothing asks for its images, and the symbols, which
/// take some time to read, can stay where they are.
bool has_kernel_places(const AggregationTable& table) {
    return std::ranges::any_of(table.entries(), [&](const AggregationEntry& entry) {
        return std::ranges::any_of(table.layout_of(entry).keys, [](const ValueType& type) {
            return is_kernel_place(type.kind);
        });
    });
}

/// An entry with its canonical key.
struct CanonicalEntry {
    const AggregationEntry* entry;
    size_t key_offset, key_bytes;
};

/// What an entry's layout sorts by: its number depends on which record came first.
std::string order_of(const AggregationLayout& layout) {
    std::string text = base::strprintf("%08x", layout.variable);
    for (const ValueType& type : layout.keys)
        text +=
            base::strprintf(" %u.%u.%u", static_cast<unsigned>(type.kind), type.action, type.bytes);
    return text;
}

/// Sorts them so that the order says nothing of how the records lay: the same part has the same
/// bytes.
void sort_entries(const AggregationTable& table, const base::Bytes& keys,
                  std::vector<CanonicalEntry>& entries) {
    std::map<uint32_t, std::string> orders;
    for (const CanonicalEntry& one : entries)
        if (!orders.contains(one.entry->layout))
            orders[one.entry->layout] = order_of(table.layout_of(*one.entry));
    auto key_of = [&keys](const CanonicalEntry& one) {
        return base::ByteView(keys).subspan(one.key_offset, one.key_bytes);
    };
    std::sort(entries.begin(), entries.end(),
              [&](const CanonicalEntry& a, const CanonicalEntry& b) {
                  if (a.entry->layout != b.entry->layout)
                      return orders[a.entry->layout] < orders[b.entry->layout];
                  base::ByteView x = key_of(a), y = key_of(b);
                  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
              });
}

} // namespace

formats::Digest digest_of(const PartialProgram& program) {
    std::string text = program.normalized;
    text += '\0';
    for (const formats::DofOption& option : program.options)
        text += base::strprintf("%u=%llu,%s;", option.option,
                                static_cast<unsigned long long>(option.value),
                                option.text.value_or("").c_str());
    return base::sha256(base::as_bytes(text));
}

TimeWindow window_of_part(const formats::Recording& recording, const TimeWindow& asked) {
    TimeWindow window = cut_window_of(recording);
    auto narrow = [&window](std::optional<uint64_t> since, std::optional<uint64_t> until) {
        if (since)
            window.since_mono_ns = std::max(*since, window.since_ns());
        if (until)
            window.until_mono_ns = std::min(*until, window.until_ns());
    };
    if (recording.window_to_ns != 0)
        narrow(recording.window_from_ns, recording.window_to_ns);
    narrow(asked.since_mono_ns, asked.until_mono_ns);
    if (window.until_mono_ns && *window.until_mono_ns > 0)
        --*window.until_mono_ns;
    return window;
}

formats::StatePart part_of(const formats::Trace& trace, const formats::RingRecording& ring,
                           const TimeWindow& window, const PartialProgram& program) {
    formats::StatePart part;
    part.cpus = formats::coverage_of(ring);
    part.identity.program = digest_of(program);
    part.identity.host = trace.header.host();
    part.identity.boot_id = trace.recording.boot_id;
    part.identity.ring_id = ring.ring_id;
    part.identity.since_ns = window.since_ns();
    part.identity.until_ns = window.until_mono_ns ? *window.until_mono_ns + 1 : UINT64_MAX;
    part.identity.digest =
        formats::digest_of(part.identity.boot_id, part.identity.ring_id, part.cpus);
    part.dof = program.ends;
    part.source = program.normalized;
    part.release = trace.header.release;
    part.keeps_thread_state = program.keeps_thread_state;
    part.keeps_global_state = program.keeps_global_state;
    part.has_ticks = program.has_ticks;
    return part;
}

void note_divided(formats::StatePart& part, DividedFirings divided) {
    std::ranges::sort(divided.cut);
    part.holds_firings = divided.held;
    for (formats::CoveredCpu& cpu : part.cpus)
        for (formats::CoveredRun& run : cpu.runs)
            run.begins_in_firing =
                std::ranges::binary_search(divided.cut, CutFiring{cpu.cpu, run.first_sequence});
}

base::Result<void> write_part(formats::StateWriter& writer, formats::StatePart part,
                              const AggregationTable& table, const std::vector<std::string>& names,
                              const formats::Trace& trace, UserNames* users) {
    if (has_kernel_places(table))
        part.images = kernel_images(trace.header.modules, trace.symbols);
    ImageIndex index(part.images);
    std::vector<CanonicalEntry> entries;
    base::Bytes keys;
    KernelAddresses addresses;
    MappedFiles files(users);
    formats::CanonicalKey key;
    for (const AggregationEntry& entry : table.entries()) {
        DBK_TRY_VOID(
            make_canonical(table.members_of(entry), part.images, index, key, addresses, files));
        entries.push_back({&entry, keys.size(), key.bytes().size()});
        keys.insert(keys.end(), key.bytes().begin(), key.bytes().end());
    }
    std::vector<formats::StateSymbol> functions;
    files.put(part.images, functions);
    DBK_TRY_VOID(writer.begin_part(part));
    DBK_TRY_VOID(write_names(writer, index, addresses, trace.symbols));
    DBK_TRY_VOID(write_symbols(writer, functions));
    sort_entries(table, keys, entries);
    for (const CanonicalEntry& one : entries) {
        const AggregationLayout& layout = table.layout_of(*one.entry);
        if (layout.variable == 0 || layout.variable > names.size())
            return base::errorf(base::ErrorCode::corrupt, "aggregation %u has no name",
                                layout.variable);
        DBK_TRY_VOID(writer.add(aggregation_of(layout, names[layout.variable - 1]),
                                base::ByteView(keys).subspan(one.key_offset, one.key_bytes),
                                table.cells_of(*one.entry)));
    }
    return {};
}

} // namespace daybreak::analyze
