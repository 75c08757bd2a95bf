// SPDX-License-Identifier: Apache-2.0
//
// Partial states: what a replay aggregated over a part of what was recorded, in memory.
//
//     StatePart      which program, host, boot, window and segments: the coverage
//       StateSymbols   names for its addresses
//       StateBlock*    its values, some of one aggregation each
//
// aggstate.md is the specification; docs/design/0078-partial-states.md says why it is so.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/abi/dof.h"
#include "formats/segment/recording.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace daybreak::formats {

using Digest = std::array<uint8_t, 32>;

/// Returns the first 16 hexadecimal digits.
std::string digest_text(const Digest& digest);

/// Limits of what a reader takes.
constexpr size_t kStateRawBytesMax = 8u << 20; ///< of one message
constexpr size_t kKeyMembersMax = 64;          ///< D has 8 tuple registers
constexpr uint64_t kImageBytesMax = 1u << 30;  ///< x86-64 has no room for a longer kernel
constexpr uint32_t kStateCellsMax = 1u << 17;  ///< of one value, before zeros are left out

/// Which part a state is of: two parts with the same identity are one.
struct PartIdentity {
    Digest program{};
    std::string host;
    uint64_t boot_id = 0;
    uint16_t ring_id = 0;
    uint64_t since_ns = 0, until_ns = UINT64_MAX; ///< the second is not in it, but for UINT64_MAX
    Digest digest{};                              ///< of its segments: digest_of()

    bool operator==(const PartIdentity&) const = default;
    bool operator<(const PartIdentity& other) const;
};

/// Returns "1.000000..2.500000", seconds; "all".
std::string window_text(const PartIdentity& part);

/// Segments that follow each other, with all records between them.
struct CoveredRun {
    uint64_t first_sequence = 0, last_sequence = 0;
    uint64_t records_before = 0, records = 0;
    uint64_t from_ns = 0, to_ns = 0;
    bool begins_in_firing = false; ///< with records of one that was asked for: others lie before it

    uint64_t records_after() const { return records_before + records; }
};

struct CoveredCpu {
    uint16_t cpu = 0;
    uint64_t committed = 0;
    uint64_t first_kept = 1; ///< what is before it was overwritten
    uint64_t newest = 0;     ///< the last segment that is known of
    uint64_t faults = 0;
    DropCounts drops{};
    std::vector<CoveredRun> runs; ///< ascending
};

/// The kernel or a module, as it lay in memory; or a file that processes had mapped, which lies
/// elsewhere in each: its offsets are those in the file, and it ends with the last one in a key.
struct StateImage {
    std::string name;
    uint64_t base_address = 0, size_bytes = 0;
    Bytes build_id;
    bool is_file = false;
};

struct StatePart {
    PartIdentity identity;
    Bytes dof;          ///< clauses of BEGIN and END
    std::string source; ///< the normalized program
    std::string release;
    bool keeps_thread_state = false, keeps_global_state = false, has_ticks = false;
    bool holds_firings = false; ///< records of a firing may lie anywhere: a speculation held some
    uint64_t begin_ns = 0, end_ns = 0, begin_wall_ns = 0;
    uint16_t begin_cpu = 0, end_cpu = 0; ///< where BEGIN fires, and of the last record
    uint64_t records = 0, firings = 0;
    uint64_t drops = 0; ///< of the replay itself
    std::vector<CoveredCpu> cpus;
    std::vector<StateImage> images;
};

/// What the part had to read of one ring, from its recording.
std::vector<CoveredCpu> coverage_of(const RingRecording& ring);
/// The digest of which segments these are, whatever file and form they came in.
Digest digest_of(uint64_t boot_id, uint16_t ring_id, const std::vector<CoveredCpu>& cpus);

/// An address: in an image, or as such.
struct Frame {
    std::optional<uint32_t> image; ///< index into StatePart::images
    uint64_t offset = 0;           ///< in it; else the address
};

struct StateSymbol {
    Frame frame;
    char type = '?';
    std::string name, module;
    uint64_t bytes = 0; ///< of a function of a file
};

struct StateSymbols {
    std::vector<StateSymbol> symbols;
};

/// X(name, tag): what a member of a key is.  The tag is a byte of the key.
#define DBK_KEY_TAGS(X)                                                                            \
    X(integer, 1)                                                                                  \
    X(string, 2)                                                                                   \
    X(bytes, 3)                                                                                    \
    X(memory, 4)                                                                                   \
    X(stack, 5)                                                                                    \
    X(ustack, 6)                                                                                   \
    X(symbol, 7)                                                                                   \
    X(module, 8)                                                                                   \
    X(uaddress, 9)                                                                                 \
    X(usymbol, 10)                                                                                 \
    X(umodule, 11)

#define DBK_KEY_TAG_ENUM(name, tag) name = tag,
enum class KeyTag : uint8_t { DBK_KEY_TAGS(DBK_KEY_TAG_ENUM) };
#undef DBK_KEY_TAG_ENUM

constexpr uint8_t kKeyTagMax = static_cast<uint8_t>(KeyTag::umodule);

struct StateKeyType {
    KeyTag tag = KeyTag::integer;
    uint32_t bytes = 0, action = 0;
    bool is_signed = false;
};

/// An aggregation, as states name it.
struct StateAggregation {
    std::string name;
    uint32_t function = DTRACEAGG_COUNT;
    uint64_t argument = 0;
    std::vector<StateKeyType> key_types;

    bool has_extremes() const;
};

/// Values of one aggregation.
struct StateBlock {
    StateAggregation aggregation;
    Bytes keys;
    std::vector<uint32_t> key_bytes, cell_counts, indexes;
    std::vector<uint64_t> values;
    std::vector<int64_t> extremes;

    size_t size() const { return key_bytes.size(); }
    bool empty() const { return key_bytes.empty(); }
    /// About how long the message will be.
    size_t raw_bytes() const {
        return keys.size() + size() * 16 + indexes.size() * 12 + extremes.size() * 8;
    }
    void clear_states();
};

/// One value, as it lies in a block.
struct StateView {
    ByteView key;
    std::span<const uint32_t> indexes; ///< ascending
    std::span<const uint64_t> values;  ///< as many
    std::optional<int64_t> extreme;
};

/// Goes through a block's states in order.
class StateCursor {
public:
    /// The block must outlive the cursor, and hold, as decoded ones do.
    explicit StateCursor(const StateBlock& block) : block_(block) {}
    bool next(StateView& view);

private:
    const StateBlock& block_;
    size_t at_ = 0, key_ = 0, cell_ = 0;
};

} // namespace daybreak::formats
