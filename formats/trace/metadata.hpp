// SPDX-License-Identifier: Apache-2.0
//
// What a trace file knows beside the recording: recorder, host, modules, symbols, completeness.
//
// Plain values; trace.capnp is their form on disk and message.cpp the one place that knows both.
#pragma once

#include "formats/segment/recording.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace daybreak::formats {

/// Where a recording was taken from.
enum class TraceOrigin : uint8_t { device, snapshot, bank, dump, simulator, backfill };

/// A loaded module; or the kernel, "vmlinux": where it lay only its symbols say.
struct ModuleInfo {
    std::string name;
    uint64_t base_address = 0; ///< 0 when the kernel did not tell
    uint64_t size_bytes = 0; ///< of all of its memory, which need not be in one
    Bytes build_id; ///< empty when not known
};

/// Readings of a host's clocks side by side, taken by the recorder.
struct HostClocks {
    uint64_t mono_ns = 0, boot_ns = 0, wall_ns = 0;
};

/// One unit of systemd that has begun to start.
struct BootUnit {
    std::string name;
    uint64_t began_mono_ns = 0;  ///< its last start
    uint64_t ready_mono_ns = 0;  ///< when it was active; 0: never
    std::vector<uint16_t> after; ///< units that it is ordered after, as indices
};

/// What systemd said of its units when the recorder asked.
struct BootUnits {
    std::string default_target; ///< empty: not known
    std::vector<BootUnit> units; ///< none: it was not asked
};

/// The most units of a file, and the most of what they are ordered after, all together: ten times
/// a large server's.
constexpr size_t kBootUnitsMax = 8192, kBootUnitOrdersMax = 1u << 17;

/// Whether a unit can be called that: systemd allows few characters.
bool is_unit_name(std::string_view name);

/// What texts call a host without a name.
constexpr const char* kNamelessHost = "(no name)";

/// The first block of a trace file.
struct TraceHeader {
    std::string tool_version; ///< of the program that wrote the file
    TraceOrigin origin = TraceOrigin::device;
    HostClocks clocks; ///< when the recorder began
    std::array<uint8_t, 16> boot_uuid{};
    std::string hostname, release, version, machine; ///< as uname(2) says
    std::string command_line;                        ///< of the kernel
    uint32_t cpus_online = 0;
    uint64_t memory_bytes = 0;
    std::vector<std::string> d_files; ///< names of the D sources, when known
    std::vector<ModuleInfo> modules;
    /// In the series of files that a recorder writes of one boot: 1, 2, ...; 0: it is in no row.  When
    /// two numbers that follow each other are here, nothing may be missing between their files.
    uint32_t file_number = 0;
    /// CLOCK_MONOTONIC of what was asked for; window_to_ns 0: everything.
    uint64_t window_from_ns = 0, window_to_ns = 0;
    std::string trigger; ///< name of what asked for it; empty: nothing did
    BootUnits boot_units;

    bool has_window() const { return window_to_ns != 0; }
    /// The host's name; empty when it had none: then Linux says "(none)".
    std::string host() const { return hostname == "(none)" ? "" : hostname; }
};

/// One symbol of the kernel or of a module.
struct Symbol {
    uint64_t address = 0;
    uint32_t module = 0; ///< index into SymbolTable::modules()
    char type = '?';     ///< as in /proc/kallsyms: t, T, d ...
    std::string name;
};

/// An address further after the nearest symbol belongs to none: no function is that long.
constexpr uint64_t kSymbolBytesMax = 1u << 20;

/// The most symbols a file may have: some four times what a kernel with all its modules has.
constexpr size_t kSymbolsMax = 1u << 21;

/// Kernel symbols, looked up by address.
///
/// A table that was given load_later() reads its symbols when one is asked for: a file's are most
/// of a small file, and most reports print no address.  Copies of it share what was read; threads
/// may ask.
class SymbolTable {
public:
    struct Match {
        std::string_view module; ///< "vmlinux" for the kernel itself
        std::string_view name;
        uint64_t offset_bytes = 0;
    };

    /// Fills an empty table.
    using Load = std::function<void(SymbolTable&)>;
    /// The symbols are those that `load` adds, which is called once, before the first is looked at.
    void load_later(Load load);
    /// Returns whether nothing was added and nothing is to be loaded; does not load.
    bool is_absent() const { return !later_ && symbols_.empty(); }

    /// Takes the symbols in any order.
    void add(uint64_t address, char type, std::string_view name, std::string_view module);
    /// Those that come after the last one added are not known: how long that one is, neither.
    void add_hole();
    /// Sorts; call after the last add() and before lookups.
    void finish();
    /// Returns the nearest symbol at or below the address; empty when there is none within
    /// kSymbolBytesMax, the end of the kernel's image was passed, or a hole begins in between.  Of several at one address:
    /// code before data, global before local.
    std::optional<Match> find(uint64_t address) const;
    const std::vector<Symbol>& symbols() const { return here().symbols_; }
    const std::vector<std::string>& modules() const { return here().modules_; }
    bool empty() const { return symbols().empty(); }

private:
    struct Later;

    const SymbolTable& here() const;

    std::shared_ptr<Later> later_; // has the symbols when it is there
    std::vector<Symbol> symbols_;
    std::vector<uint64_t> holes_; // addresses of the symbols before them
    std::vector<std::string> modules_;
    std::map<std::string, uint32_t, std::less<>> module_index_;
};

/// What a file has in place of the kernel's symbols when a file beside it has them
/// (docs/design/0062-shared-symbols.md).
struct SharedSymbols {
    struct Module {
        std::string name;
        uint64_t hash = 0; ///< of its symbols: hashes_of_modules()
    };
    std::vector<Module> modules; ///< whose symbols are as they are there
    Bytes additions;             ///< the others', as a SORTED_SYMBOLS block has them
};

/// What the recorder knew about one CPU of one ring when it wrote the file.
struct CpuSummary {
    uint16_t ring_id = 0, cpu = 0;
    Completeness completeness; ///< intervals left empty: they are in the segments
};

/// The last block but one: completeness as the recorder saw it.  A reader compares it with what
/// it finds in the file.
struct TraceSummary {
    HostClocks clocks; ///< when the recorder ended
    bool interrupted = false;
    std::vector<CpuSummary> cpus;
    std::vector<Finding> findings;
};

/// X(name, text): why a recorder did not write segments that it should have.
#define DBK_SKIP_CAUSES(X)                                                                         \
    X(overrun, "the CPU overwrote its ring faster than it was read")                              \
    X(disk_slow, "the disk was too slow")                                                          \
    X(disk_full, "the disk was full")                                                              \
    X(disk_error, "the disk could not be written to")                                              \
    X(not_running, "no recorder was running")                                                      \
    X(damaged, "what lay in their places was no segment")                                          \
    X(unknown, "for a reason that this version does not know")

enum class SkipCause : uint8_t {
#define DBK_SKIP_ENUM(name, text) name,
    DBK_SKIP_CAUSES(DBK_SKIP_ENUM)
#undef DBK_SKIP_ENUM
};

/// Returns the cause's identifier ("disk_full"), and the cause in words.
const char* skip_name(SkipCause cause);
const char* skip_text(SkipCause cause);

/// Sequence numbers that a recorder could not write.
struct SkippedSegments {
    uint16_t ring_id = 0, cpu = 0;
    uint64_t first_sequence = 0, last_sequence = 0;
    SkipCause cause = SkipCause::overrun;
    uint64_t mono_ns = 0; ///< when it was noticed
};

/// The window that a file was cut to, and what it does not have because of that.
struct TraceWindow {
    uint64_t boot_id = 0; ///< whose segments they are
    CutWindow window;
    std::vector<LeftOut> left_out; ///< ascending by ring, CPU and sequence, none of it twice
};

/// A data block, and the pieces in it.
struct IndexBlock {
    uint64_t file_offset = 0;
    uint32_t block_number = 0;
    std::vector<PieceHead> pieces; ///< all of it, in order; empty: it has others, too
    bool is_lost = false;          ///< it was looked at, and could not be read
    std::vector<uint32_t> epids;   ///< of all its records, ascending; empty: not said
};

/// One index: what came since the one before.
struct TraceIndex {
    std::vector<IndexBlock> blocks;
};

/// What a file with many index blocks says of them.
struct TraceContents {
    struct Group {
        uint64_t file_offset = 0; ///< of the index block
        uint32_t blocks = 0;      ///< data blocks that it lists
        uint32_t runs = 0;        ///< so many of `runs` are its; 0: it is to be read
    };
    struct Run {
        uint16_t ring_id = 0, cpu = 0;
        SegmentRun run; ///< of no source
    };
    struct Pairs {
        uint16_t ring_id = 0;
        std::vector<ClockPair> pairs;
    };
    uint64_t boot_id = 0;
    uint64_t raw_data_bytes = 0;
    std::vector<Group> groups; ///< in the order of the file
    std::vector<Run> runs;
    std::vector<uint64_t> other_offsets; ///< ascending, of the blocks that are to be read
    std::vector<Pairs> pairs;
};

/// Returns the summary that the recording itself gives.
TraceSummary summary_of(const Recording& recording);

} // namespace daybreak::formats
