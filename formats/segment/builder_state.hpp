// SPDX-License-Identifier: Apache-2.0
//
// What RecordingBuilder has found so far, and the steps that make a Recording of it.
//
// builder.cpp finds and checks pieces and puts them in order, metadata_blocks.cpp reads the
// metadata of a ring, completeness.cpp accounts for its records.
#pragma once

#include "formats/segment/clock_pairs.hpp"
#include "formats/segment/piece.hpp"

#include <tuple>

namespace daybreak::formats {

/// A metadata block that was accepted, and where it lay.
struct FoundPiece {
    Piece piece;
    PieceBytes bytes; ///< committed ones, as far as they were there; in memory
    uint32_t origin = 0;
    uint64_t offset_bytes = 0;
    uint32_t file_id = 0;
    bool cut = false; ///< bytes end before the committed ones
};

/// Whose segments and snapshots lie together while they come in.
struct CpuKey {
    uint64_t boot_id = 0;
    uint16_t ring_id = 0, cpu = 0;
    uint32_t file_id = 0;
    auto operator<=>(const CpuKey&) const = default;
};

/// What one file has of one CPU, in the order of the file, copies of one segment included.
struct CpuPieces {
    uint16_t ring_id = 0; ///< in the Recording; see tell_rings_apart()
    SegmentList segments;
    /// Of the last segments, those since the last fold: the places in the index that has them.
    std::vector<uint32_t> places;
    base::ChunkList<SegmentDrops> drops;
    base::ChunkList<AggregationSnapshot> aggregations;
    std::vector<LeftOut> left_out;

    /// Returns how many segments the file had, those that it has and those that were left out.
    uint64_t segment_count() const;
};

struct BuilderState {
    std::vector<std::string> origins;
    std::vector<std::shared_ptr<const Bytes>> storage;
    std::vector<std::shared_ptr<PieceStore>> stores;
    std::vector<std::shared_ptr<SegmentSource>> sources;
    bool counts_hold = true;
    bool blocks_lost = false;
    std::vector<FoundPiece> metadata;
    std::map<CpuKey, CpuPieces> cpus;
    std::set<CpuKey> unfolded;     ///< of which segments have places
    size_t segments_in_memory = 0; ///< that an index describes, without those in runs
    size_t segments_in_memory_max = 0;
    /// Of the TSC clocks of segments that became runs, by boot, ring and file; and by the rings of
    /// the Recording.
    std::map<std::tuple<uint64_t, uint16_t, uint32_t>, ClockPairs> run_pairs;
    std::map<uint16_t, ClockPairs> ring_pairs;
    std::set<uint32_t> file_numbers;
    uint32_t windows = 0, files = 0;
    Findings findings;

    /// Returns "<origin> at 0x<offset>" for findings.
    std::string where(uint32_t origin, uint64_t offset_bytes) const;
    /// Makes the Recording an owner of the store, too.
    void share(const std::shared_ptr<PieceStore>& store);
    void share(const std::shared_ptr<SegmentSource>& source);
    /// Takes a segment or a snapshot.  `cut`: the bytes end before the committed ones.  `place`: of
    /// a segment in its file's index; kNoPlace: it is not from one.
    static constexpr uint32_t kNoPlace = UINT32_MAX;
    void add(const Piece& piece, const PieceBytes& bytes, const AddOptions& options, bool cut,
             const std::optional<SegmentCount>& count, uint32_t place = kNoPlace);
};

/// Makes runs of the segments that have places in the index: a group of the source; null: takes the
/// places from them.
void fold_segments(BuilderState& state, SegmentSource* source, uint32_t group,
                   const RecordingBuilder::StreamOf& stream_of);

/// Keeps the pairs of all runs within bounds.
void bound_pairs(BuilderState& state);

/// Puts the list in order by sequence, of several copies of a segment the best: the longest, a
/// sealed one, the one that came first.
void keep_best(SegmentList& list);

/// Returns where the bytes of a piece are that an index describes.
PieceBytes indexed_bytes(const PieceHead& head, uint32_t bytes, PieceStore& store,
                         uint32_t block);

/// Puts the pieces of the CPUs where they belong in the Recording: of each segment and snapshot the
/// best copy, ascending by sequence.  Leaves `state.cpus` empty.
void gather_cpus(BuilderState& state, Recording& recording);

/// Puts what was left out in order, each sequence number once, without the segments that are here.
void keep_absent(CpuInfo& cpu);

/// Returns "ring 1 cpu 0 segment 17".
std::string segment_name(uint16_t ring_id, uint16_t cpu, uint64_t sequence);

/// Returns "ring 1 metadata PROBES 0.0".
std::string block_name(const dbk_meta_header& meta);

/// Gives rings of different files that have one id and began at different times ids of their own: the
/// first file's keeps it.  What a file has no META_RING of stays as it is.
void tell_rings_apart(BuilderState& state);

/// Reads host and ring metadata from the best copy of each block of the boot.
void read_metadata(const std::vector<FoundPiece>& blocks, Recording& recording);

/// Counts the records of every segment of the ring, notes damage.  Segments that are counted already
/// keep their counts when `counts_hold`; the others are walked in the order in which they lie in
/// their stores, so that each block is unpacked once.
void count_records(RingRecording& ring, bool counts_hold, Findings& findings);

/// Fills gaps and completeness of every CPU of the ring; after count_records().  `file_numbers` are
/// the files of a recorder's row that are here; `blocks_lost`: some file lost blocks.
void account(RingRecording& ring, const std::set<uint32_t>& file_numbers, bool blocks_lost,
             Findings& findings);

} // namespace daybreak::formats
