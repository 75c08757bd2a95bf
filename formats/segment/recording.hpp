// SPDX-License-Identifier: Apache-2.0
//
// Recording: everything that was found about one boot's rings, checked and in order.
//
// The same parser serves a mapped ring, a dump, a reserved-memory bank and a trace file: it is fed
// ranges of bytes, finds the magics in them, checks what stands after, keeps the best copy of each
// piece and puts segments in order by sequence number.
//
//     RecordingBuilder --add_bytes()*--> build() --> Recording
//                                                     host, machine (crash, triggers, log)
//                                                     rings[]  info, clock, DOF, probes, ECBs
//                                                       cpus[]  counters, segments[], gaps[],
//                                                               aggregations[], completeness
//                                                     findings
//
// Nothing in it is trusted after build() beyond what each member's comment promises.
#pragma once

#include "base/chunk_list.hpp"
#include "formats/segment/aggregation.hpp"
#include "formats/segment/clock.hpp"
#include "formats/segment/finding.hpp"
#include "formats/segment/left_out.hpp"
#include "formats/segment/machine.hpp"
#include "formats/segment/process_maps.hpp"
#include "formats/segment/record.hpp"
#include "formats/segment/segment_list.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace daybreak::formats {

constexpr uint32_t kCpusMax = 8192;             ///< NR_CPUS of the largest kernels
constexpr uint32_t kRingCpusMax = 1u << 17;     ///< of all rings together: each takes a kilobyte
constexpr uint32_t kRingDofBytesMax = 8u << 20; ///< what a DOF image may have, over all its parts

using DropCounts = std::array<uint64_t, DBK_DROP_SLOTS>;

/// META_HOST, texts cut at their NUL.
struct HostInfo {
    std::array<uint8_t, 16> boot_uuid{};
    uint64_t kernel_text_start = 0; ///< 0 when unknown
    uint32_t cpu_count = 0;
    uint32_t page_bytes = 0;
    std::string release, version, machine, module_version;
};

struct ProbeInfo {
    uint32_t id = 0;
    std::string provider, module, function, name;

    std::string text() const { return provider + ":" + module + ":" + function + ":" + name; }
};

/// META_RING.  The numbers are as found; only `clock` decides which clock is used.
struct RingInfo {
    dbk_meta_ring facts{};
    std::string name; ///< of the enabling
};

/// One DOF image, reassembled.  Empty when a part was missing (a finding says so).
struct DofBytes {
    uint16_t index = 0;
    Bytes bytes;
};

/// What was dropped while one segment was the open one, by enum dbk_drop.
using SegmentDrops = std::array<uint32_t, DBK_DROP_SLOTS>;

/// Sequence numbers that are not there.
struct Gap {
    uint64_t first_sequence = 0, last_sequence = 0;
    uint64_t records = 0;      ///< how many records they held
    bool records_known = true; ///< false: not known from the segments around
    bool overwritten = false;  ///< the ring wrapped: no loss
    bool rotated = false;      ///< left out on purpose: in files of the row that are not here, or
                               ///< before a snapshot's window: no loss
    bool left_out = false;     ///< rotated, and said to be left out by the file: LeftOut
};

/// Data not stored, by cause, in the time one segment was open.
struct DropInterval {
    enum dbk_drop cause = DBK_DROP_PRINCIPAL;
    uint64_t count = 0;
    uint64_t sequence = 0;
    uint64_t from_mono_ns = 0;
    uint64_t to_mono_ns = 0; ///< UINT64_MAX: of a CPU's last segment nothing says when it ended
};

/// What one CPU recorded and what of it is here.
/// committed = present + overwritten + rotated + lost + not_copied.
struct Completeness {
    uint64_t committed = 0;   ///< records committed since the ring was made
    uint64_t present = 0;     ///< readable here
    uint64_t overwritten = 0; ///< the ring wrapped: no loss by itself
    uint64_t rotated = 0;     ///< in files of the row that are not here, before a snapshot's
                              ///< window, or left out of the file: no loss
    uint64_t lost = 0;        ///< damaged, missing, or unreadable
    uint64_t not_copied = 0;  ///< committed after the copy was made
    bool lost_known = true;   ///< false: `lost` counts less than all, segments are missing
    uint64_t segments_present = 0;
    uint64_t segments_missing = 0; ///< that should be there
    uint64_t segments_damaged = 0; ///< present, but not to the end
    uint64_t firings = 0;          ///< of ECBs; of one each record is
    uint64_t errors = 0;           ///< faults, each has fired dtrace:::ERROR
    DropCounts drops{};            ///< in all, from the CPU's counters or the segments
    DropCounts drops_unseen{};     ///< of these, outside the segments that are here
    std::vector<DropInterval> intervals;

    uint64_t drops_total() const {
        uint64_t total = 0;
        for (uint64_t drop : drops)
            total += drop;
        return total;
    }
    /// Returns whether data that should be here is not.  Overwriting is what a ring is for.
    bool has_losses() const {
        return lost != 0 || !lost_known || segments_missing != 0 || drops_total() != 0;
    }
};

/// One CPU of a ring.
struct CpuInfo {
    uint16_t cpu = 0;
    std::optional<dbk_meta_cpu> counters;
    SegmentList segments;                ///< ascending by sequence, each once
    base::ChunkList<SegmentDrops> drops; ///< of those in which any were; see drops_of()
    std::vector<Gap> gaps;
    std::vector<LeftOut> left_out; ///< ascending; none of it is in `segments`
    base::ChunkList<AggregationSnapshot> aggregations; ///< ascending by sequence
    Completeness completeness;

    /// Returns null when nothing was dropped.
    const SegmentDrops* drops_of(const SegmentInfo& segment) const {
        return segment.drops_place == 0 ? nullptr : &drops[segment.drops_place - 1];
    }
};

/// One ring: an enabling and what it recorded.
struct RingRecording {
    uint16_t ring_id = 0;
    bool has_info = false; ///< META_RING was found
    RingInfo info;
    ClockModel clock;
    std::vector<DofBytes> dof; ///< ascending by index; may have holes
    std::map<uint32_t, ProbeInfo> probes;
    EcbTable ecbs;
    std::vector<CpuInfo> cpus; ///< ascending by cpu; only those of which something was found

    /// Returns the image, or nullptr when it is not there or not whole.
    const DofBytes* find_dof(uint16_t index) const;
    const ProbeInfo* find_probe(uint32_t id) const {
        auto found = probes.find(id);
        return found == probes.end() ? nullptr : &found->second;
    }
    /// The sums over the CPUs; intervals are left empty.
    Completeness completeness() const;
    /// Returns whether the deadman ended it: what came after was not recorded.
    bool is_aborted() const { return has_info && info.facts.activity == DBK_ACTIVITY_KILLED; }
    bool has_losses() const { return is_aborted() || completeness().has_losses(); }
};

/// Movable, not copyable: segments are views into its storage.
struct Recording {
    Recording() = default;
    Recording(Recording&&) = default;
    Recording& operator=(Recording&&) = default;
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    uint64_t boot_id = 0;
    std::optional<HostInfo> host;
    MachineInfo machine;              ///< how it ended, its triggers, its log
    ProcessMaps maps;                 ///< what processes had mapped as code
    std::vector<RingRecording> rings; ///< ascending by ring_id
    Findings findings;
    std::vector<std::shared_ptr<const Bytes>> storage; ///< owns what was added as owned bytes
    std::vector<std::shared_ptr<PieceStore>> stores;   ///< has the segments that are not in memory
    std::vector<std::shared_ptr<SegmentSource>> sources; ///< of the runs of segments
    std::set<uint32_t> file_numbers;                   ///< of a recorder's row, those that are here
    std::vector<ByteView> metadata; ///< the best copy of each block, by ring, kind, index and part
    /// CLOCK_MONOTONIC of the window that a snapshot was asked for; window_to_ns 0: everything.
    uint64_t window_from_ns = 0, window_to_ns = 0;
    /// Of a file that was cut to a window: completeness is known, and meant, of that.
    std::optional<CutWindow> cut_window;

    const RingRecording* find_ring(uint16_t ring_id) const;
    /// Returns the findings, and those of pieces that were looked at since.
    Findings all_findings() const;
    /// How many records are here, of all rings.
    uint64_t records_present() const;
    /// Reports a segment that does not have the records that its file's index says.
    void add_miscount(const RingRecording& ring, const CpuInfo& cpu, const SegmentInfo& segment,
                      uint64_t found) const;
    /// Adds a finding of kind bad_record about a segment.
    void add_bad_record(const RingRecording& ring, const CpuInfo& cpu, const SegmentInfo& segment,
                        const std::string& text) const;
    /// Returns CLOCK_REALTIME of the last that is known of this boot; 0: nothing is.
    uint64_t last_wall_ns() const;
    /// Returns whether anything that should be here is not (exit status 3).
    bool has_losses() const;
    /// Returns whether files of the recorder's row, up to the newest here, are not here.
    bool has_rotated() const {
        return !file_numbers.empty() && file_numbers.size() != *file_numbers.rbegin();
    }
};

/// Returns a cursor over the segment's records.
inline RecordCursor records_of(const SegmentInfo& segment, const RingRecording& ring) {
    bool has_records = segment.bytes.size() > DBK_SEGMENT_DATA_OFFSET; // else nothing to unpack
    return RecordCursor(
        has_records ? segment.bytes.load() : Result<PinnedBytes>(PinnedBytes()),
        segment.recorded_ticks, ring.ecbs,
        TickLine(ring.clock, segment.recorded_ticks, segment.epoch, segment.last_epoch));
}
/// Returns false when the segment has no record of these ECBs, which ascend by EPID, as far as that
/// is known without its bytes.
inline bool may_have(const SegmentInfo& segment, std::span<const uint32_t> epids) {
    const PieceStore* store = segment.bytes.store();
    return !store || store->may_have(segment.bytes.block(), epids);
}
inline AggregationCursor entries_of(const AggregationSnapshot& snapshot,
                                    const RingRecording& ring) {
    return AggregationCursor(snapshot.bytes.load(), ring.ecbs);
}

/// How pieces lie in a range of bytes.
enum class Packing : uint8_t {
    pages,  ///< each starts on a 4 KiB boundary of the range: memory, dumps, banks
    packed, ///< one after the other, each 8-aligned and cut to its committed bytes: trace files
};

struct AddOptions {
    std::string origin; ///< for findings: "region 3", "trace block 7"
    Packing packing = Packing::pages;
    /// Physical address of the first byte.  A piece that says it lies elsewhere is a stale copy in
    /// a process's memory and is refused.
    std::optional<uint64_t> phys_addr;
    /// Of the file the bytes are from, in the row that a recorder writes; see add_file().
    uint32_t file_number = 0;
    /// Of the snapshot whose window the bytes are; see add_window().
    uint32_t window_id = 0;
    /// Of the file the bytes are from; see begin_file().  0: of the kernel, or of a dump.
    uint32_t file_id = 0;
};

struct BuildOptions {
    /// The boot wanted; empty: that of which most segments were found.
    std::optional<uint64_t> boot_id;
};

/// The newest segments of a CPU that follow each other, as far as pieces were added.
struct Unbroken {
    uint16_t ring_id = 0, cpu = 0;
    uint64_t first_sequence = 0;
    uint64_t from_mono_ns = 0; ///< when the first was opened
};

/// What a walk over a segment's records found, in ticks as they were recorded.
struct SegmentCount {
    uint64_t records = 0;
    uint64_t first_ticks = 0, min_ticks = 0, last_ticks = 0; ///< base_ticks when there are none
};

/// A segment or aggregation snapshot of a block, known without its bytes.
struct PieceHead {
    uint32_t offset_bytes = 0; ///< in the block
    std::array<std::byte, DBK_SEGMENT_DATA_OFFSET> head{};
    std::optional<SegmentCount> count; ///< empty: it is to be walked
    /// Of a segment: how many segments of its boot, ring and CPU are before it in the index block.
    uint32_t place = 0;
};

/// Whose segments a SegmentSource has: a stream's number is one of these.
struct StreamKey {
    uint64_t boot_id = 0;
    uint16_t ring_id = 0, cpu = 0;
    auto operator<=>(const StreamKey&) const = default;
};

/// Returns what an index says of a segment in a block of the store; empty when the head is not of a
/// segment or contradicts itself.  Its drops_place is 1 when anything was dropped in it.
std::optional<std::pair<StreamKey, SegmentInfo>> segment_of(const PieceHead& untrusted_head,
                                                            PieceStore& store, uint32_t block);
/// The same without its bytes.
std::optional<std::pair<StreamKey, SegmentInfo>> segment_of(const PieceHead& untrusted_head);

/// Counts records as pieces come, by the ECBs that came before them.
class PieceCounter {
public:
    /// More of them are not worth their place in an index.
    static constexpr size_t kEpidsMax = 256;

    /// Takes a whole piece.  Returns the count of a segment that has no damage and only records of
    /// ECBs that are known; else nothing.
    std::optional<SegmentCount> take(ByteView untrusted_piece);
    /// Returns of which ECBs the records are that were counted since the last call: ascending, each
    /// EPID once.  Empty: there are more than kEpidsMax, or a segment could not be counted.
    std::vector<uint32_t> take_epids();

private:
    struct Ring {
        EcbTable ecbs;
        std::vector<uint8_t> is_met; ///< by index in `ecbs`
    };
    std::optional<SegmentCount> count(ByteView bytes, uint64_t base_ticks, Ring& ring);

    std::map<uint16_t, Ring> rings_;
    bool has_uncounted_ = false;
};

struct BuilderState;

/// Collects pieces from untrusted bytes and builds the Recording of one boot.
class RecordingBuilder {
public:
    /// So many segments that an index describes are kept as they are before fold() makes runs of
    /// those that come: a small recording is not read twice.
    static constexpr size_t kSegmentsInMemory = 32768;
    explicit RecordingBuilder(size_t segments_in_memory = kSegmentsInMemory);
    ~RecordingBuilder();
    RecordingBuilder(RecordingBuilder&&) noexcept;
    RecordingBuilder& operator=(RecordingBuilder&&) noexcept;

    /// Looks through `untrusted`, which must outlive the Recording and not change.
    /// Returns how many pieces it accepted.
    /// Adds the accepted pieces themselves, as far as they were whole, to *pieces when given.
    size_t add_bytes(ByteView untrusted, const AddOptions& options,
                     std::vector<ByteView>* pieces = nullptr);
    /// The same for bytes that the Recording shall own.
    size_t add_owned(Bytes untrusted, const AddOptions& options);
    /// The same for a block of a store, which the Recording shall share; of `untrusted` it keeps
    /// nothing but metadata, and what `counter` counts.
    size_t add_block(const std::shared_ptr<PieceStore>& store, uint32_t block, ByteView untrusted,
                     const AddOptions& options, PieceCounter& counter);
    /// The same for a block that is not looked at before its pieces are wanted.
    /// Error: corrupt, when a head contradicts itself; nothing was added then.
    Result<void> add_heads(const std::shared_ptr<PieceStore>& store, uint32_t block,
                           std::span<const PieceHead> heads, const AddOptions& options);
    /// Keeps of the segments that add_heads() added since the last fold() but runs, as far as they
    /// are some.  They are the group's of the source, which the Recording shall share; a segment's
    /// number there is its head's `place`.  Without a source they stay as they are.
    using StreamOf = std::function<uint32_t(const StreamKey&)>;
    void fold(const std::shared_ptr<SegmentSource>& source, uint32_t group,
              const StreamOf& stream_of);
    /// Adds a run whose source the Recording shall share.  Its file and window are those of `options`.
    void add_run(const std::shared_ptr<SegmentSource>& source, const StreamKey& stream,
                 SegmentRun run, const AddOptions& options);
    /// Adds the pairs of runs of a ring, whose ticks are a TSC's.
    void add_pairs(uint64_t boot_id, uint16_t ring_id, std::span<const ClockPair> pairs,
                   const AddOptions& options);
    /// The Recording shall share the store, and what it finds late.
    void share(const std::shared_ptr<PieceStore>& store);
    /// Reports that blocks of a file are lost: what counted the records may have known more ECBs than
    /// are here, and what is absent between segments may have been in them.
    void note_lost_blocks();
    /// Segments that the file does not have on purpose; `options` as of its pieces.  Each has at
    /// least one, and the last sequence number of all is in none.
    void add_left_out(uint64_t boot_id, std::vector<LeftOut> list, const AddOptions& options);
    /// Reports that this file of a recorder's row is here, whatever can be read of it.  A gap
    /// between segments of two files is a loss only when all files from one to the other are here.
    void add_file(uint32_t file_number);
    /// Returns an id for a file: a ring of it is another file's with the same id only if it began
    /// when that did.  In the Recording the later file's has an id that no other ring has.
    uint32_t begin_file();
    /// Returns an id for what one snapshot of a window holds: what lies before it was left out.
    uint32_t add_window();
    /// Adds a finding of the caller's, to stand with the builder's own.
    void add_finding(FindingKind kind, std::string where, std::string text);

    /// Returns, for every CPU of which segments were added, from where on there is no hole.
    std::vector<Unbroken> unbroken(uint64_t boot_id) const;
    /// The boots met so far: boot id and count of segments.
    std::map<uint64_t, uint64_t> boots() const;
    /// Builds; the builder is empty afterwards.
    Recording build(const BuildOptions& options = {});

private:
    std::unique_ptr<BuilderState> state_;
};

/// Returns how much a copy of a metadata block knows: of two copies of one block, the larger is the
/// newer; equal ones hold the same.  `untrusted_block` starts with its DBKM magic and was accepted.
uint64_t block_knowledge(ByteView untrusted_block);

/// Returns the piece cut to its committed bytes, padded with zeros to 8, a segment sealed with its
/// checksum: what a trace file stores.  `untrusted_piece` starts with a DBKS, DBKM or DBKA magic.
/// Error: corrupt, when its header contradicts itself; truncated, when the bytes end too early.
Result<Bytes> packed_piece(ByteView untrusted_piece);

} // namespace daybreak::formats
