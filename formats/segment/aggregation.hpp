// SPDX-License-Identifier: Apache-2.0
//
// Aggregation snapshots (aggregate=engine): what one CPU counted, as AGGSNAP handed it out.
//
// Every snapshot holds what was counted since the one before, so a reader adds them up (min and max
// pick).  Layout in segment.md: a segment header with the magic "DBKA", the losses, then entries.
#pragma once

#include "formats/segment/record.hpp"

namespace daybreak::formats {

/// The largest aggregation buffer accepted; it must fit into one block of a trace file.
constexpr uint32_t kAggregationBytesMax = 32u << 20;

/// One aggregation's cells under one key.  Views point into the snapshot.
struct AggEntryView {
    uint32_t epid = 0;
    const EcbInfo* ecb = nullptr; ///< null when the metadata does not hold it
    uint16_t action = 0;          ///< index of the aggregating action in the ECB's ACTDESC section
    ByteView key;                 ///< fixed part and tail; tail offsets count from its start
    ByteView cells;               ///< u64 each

    size_t cell_count() const { return cells.size() / sizeof(uint64_t); }
    uint64_t cell(size_t index) const { return StackView(cells)[index]; }
};

/// A checked snapshot.
struct AggregationSnapshot {
    uint16_t cpu = 0;
    uint16_t ring_id = 0;
    uint64_t sequence = 0;
    uint64_t base_ticks = 0; ///< when counting into it began
    uint64_t base_mono_ns = 0;
    PieceBytes bytes; ///< header included, cut to the committed bytes
};

/// Walks the entries of a snapshot; stops at the first that does not fit.
class AggregationCursor {
public:
    /// Both must outlive the cursor.
    AggregationCursor(ByteView snapshot, const EcbTable& ecbs) : bytes_(snapshot), ecbs_(&ecbs) {}
    /// The same over a snapshot that was loaded; one that could not be is damage of kind
    /// unreadable.
    AggregationCursor(Result<PinnedBytes> snapshot, const EcbTable& ecbs);

    /// Yields the next entry; false at the end and at damage.
    bool next(AggEntryView& entry);
    const std::optional<RecordDamage>& damage() const { return damage_; }

private:
    ByteView bytes_;
    const EcbTable* ecbs_;
    size_t offset_ = DBK_SEGMENT_DATA_OFFSET;
    std::optional<RecordDamage> damage_;
    std::shared_ptr<const Bytes> pin_;
};

} // namespace daybreak::formats
