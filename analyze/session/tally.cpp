// SPDX-License-Identifier: Apache-2.0
//
// Which records may be counted out of order, and counting them block by block.
#include "analyze/session/tally.hpp"

#include <algorithm>
#include <span>

namespace daybreak::analyze {

using formats::Firing;

namespace {

bool is_orderly(const formats::RingRecording& ring) {
    const std::vector<formats::EcbInfo>& ecbs = ring.ecbs.all();
    return std::none_of(ecbs.begin(), ecbs.end(), [](const formats::EcbInfo& ecb) {
        return (ecb.flags & DBK_ECB_F_SPECULATES) != 0;
    });
}

bool may_be_tallied(const formats::RingRecording& ring, Consumer& consumer) {
    return ring.info.facts.aggregate != DBK_AGGREGATE_ENGINE &&
           !consumer.program().functions().empty() && !consumer.program().reads_aggregations();
}

} // namespace

Tally::Tally(const formats::Recording& recording, std::vector<Consumer*> consumers,
             const TimeWindow& window, const YieldedEcbs& yielded)
    : recording_(recording), consumers_(std::move(consumers)),
      walk_(recording, window, yielded, *this) {
    const auto& rings = recording.rings;
    if (!std::all_of(rings.begin(), rings.end(), is_orderly) ||
        std::any_of(consumers_.begin(), consumers_.end(),
                    [](const Consumer* consumer) { return consumer->options().flowindent; }))
        return;
    for (size_t i = 0; i < rings.size(); i++)
        if (may_be_tallied(rings[i], *consumers_[i]))
            walk_.add_ring(i);
}

bool Tally::count_columns(size_t ring, const formats::ColumnBlock& block) {
    if (!columns_.count(block, recording_.rings[ring], *consumers_[ring]))
        return false;
    RingProgram& program = consumers_[ring]->program();
    for (const formats::LayoutColumns& layout : block.layouts())
        if (layout.count != 0 && program.find(layout.record.word & DBK_EPID_MAX)->is_wanted)
            wanted_ += layout.count;
    return true;
}

/// Gathers the records at the beginning of a segment that only aggregate.  Returns whether these
/// are all; `whole` is how many of them are of firings that end among them.
bool Tally::gather(RingProgram& program, formats::RecordCursor& cursor, size_t& whole) {
    formats::RecordView record;
    gathered_.clear();
    whole = 0;
    while (cursor.next(record)) {
        if (record.firing != Firing::same)
            whole = gathered_.size();
        EcbPlan* plan = program.find(record.epid);
        if (!plan || !plan->only_aggregates || record.firing == Firing::unsaid ||
            record.is_committed())
            return false;
        gathered_.push_back({plan, record.bytes, record.ticks});
    }
    return !cursor.damage();
}

/// Counts the firings at the beginning of a segment that only aggregate; returns their records, and
/// whether these are all that the segment should have.
uint32_t Tally::count_rows(size_t ring, const formats::SegmentInfo& segment, bool& is_all) {
    Consumer& consumer = *consumers_[ring];
    formats::RecordCursor cursor = formats::records_of(segment, recording_.rings[ring]);
    size_t counted = 0;
    is_all =
        gather(consumer.program(), cursor, counted) && gathered_.size() == segment.record_count;
    if (is_all)
        counted = gathered_.size();
    const formats::ClockModel& clock = recording_.rings[ring].clock;
    for (const Gathered& one : std::span(gathered_).first(counted)) {
        AddressNames::Moment moment(consumer.names(), &clock, one.ticks);
        consumer.count(*one.plan, one.record, &recent_);
        wanted_ += one.plan->is_wanted;
    }
    return static_cast<uint32_t>(counted);
}

} // namespace daybreak::analyze
