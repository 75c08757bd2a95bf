// SPDX-License-Identifier: Apache-2.0
//
// LiveReport: what dtrace(1) prints while it traces.
#include "analyze/live_report.hpp"

#include "analyze/consume/drop_text.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// Whether dtrace(1) learns of such drops where it has looked.
bool is_seen(unsigned slot, const formats::Readings& looked_at) {
    switch (slot) {
    case DBK_DROP_PRINCIPAL:
    case DBK_DROP_NESTED:
    case DBK_DROP_TOOBIG:
    case DBK_DROP_MISSED:
        return looked_at.records;
    case DBK_DROP_AGGREGATION:
        return looked_at.aggregations;
    default:
        return looked_at.status;
    }
}

} // namespace

LiveReport::LiveReport(const ReportOptions& options, Sink& sink)
    : options_(options),
      names_(options.symbols, options.users), shared_{sink, names_, options_.hooks,
                                                      options.testing} {}

LiveReport::~LiveReport() = default;

void LiveReport::add(LivePieces pieces) {
    formats::RecordingBuilder builder;
    for (auto* group : {&pieces.metadata, &pieces.segments, &pieces.aggregations})
        for (base::Bytes& piece : *group)
            builder.add_owned(std::move(piece), {.origin = "live"});
    formats::Recording recording = builder.build();
    if (!take_metadata(recording))
        return;
    // What take_metadata() has kept is the recording of this time.
    const formats::Recording& current = recording.rings.empty() ? generations_.back() : recording;
    consume_records(current, pieces.horizon_mono_ns);
    tell_drops(current.rings[0], pieces.looked_at);
    shared_.flush();
}

/// Makes or extends the consumer; false when the ring is not to be understood.  A recording with
/// ECBs that are new is moved from, and kept.
bool LiveReport::take_metadata(formats::Recording& recording) {
    if (recording.rings.empty() || !recording.rings[0].has_info) {
        shared_.problem("what the ring holds cannot be read");
        shared_.flush();
        return false;
    }
    size_t ecbs = recording.rings[0].ecbs.all().size();
    if (consumer_ && ecbs <= ecbs_known_)
        return true;
    ecbs_known_ = ecbs;
    generations_.push_back(std::move(recording));
    recording.rings.clear();
    const formats::RingRecording& ring = generations_.back().rings[0];
    if (consumer_)
        consumer_->extend(ring);
    else
        consumer_ = std::make_unique<Consumer>(ring, options_.output, shared_,
                                               options_.aggregation_bytes_max);
    return true;
}

void LiveReport::consume_records(const formats::Recording& recording,
                                 std::optional<uint64_t> horizon_mono_ns) {
    const formats::RingRecording& ring = recording.rings[0];
    std::vector<const formats::AggregationSnapshot*> snapshots;
    for (const formats::CpuInfo& cpu : ring.cpus)
        for (const formats::AggregationSnapshot& snapshot : cpu.aggregations)
            snapshots.push_back(&snapshot);
    std::stable_sort(snapshots.begin(), snapshots.end(),
                     [](auto* a, auto* b) { return a->base_ticks < b->base_ticks; });
    size_t next_snapshot = 0;
    auto merge_until = [&](uint64_t ticks) {
        for (; next_snapshot < snapshots.size() && snapshots[next_snapshot]->base_ticks <= ticks;
             next_snapshot++)
            consumer_->merge(*snapshots[next_snapshot]);
    };

    RecordMerge merge(recording, starts_);
    MergedRecord merged;
    std::vector<MergedRecord> read;
    while (merge.next(merged)) {
        if (horizon_mono_ns && ring.clock.mono_ns(merged.record.arrival_ticks()) > *horizon_mono_ns)
            break;
        starts_[{ring.ring_id, merged.cpu}] = {merged.sequence, merged.index + 1};
        read.push_back(merged);
    }
    // As dtrace(1) does it: in order within what one reading finds.
    bool temporal = consumer_->options().temporal;
    if (temporal)
        std::stable_sort(read.begin(), read.end(), [](const auto& a, const auto& b) {
            return a.record.ticks < b.record.ticks;
        });
    std::vector<MergedRecord> firing;
    for (const MergedRecord& merged : read) {
        bool same = !firing.empty() && firing.back().cpu == merged.cpu &&
                    firing.back().record.ticks == merged.record.ticks &&
                    firing.back().record.ecb->probe_id == merged.record.ecb->probe_id;
        if (!same)
            consume_firing(firing);
        merge_until(temporal ? merged.record.ticks : merged.record.arrival_ticks());
        firing.push_back(merged);
    }
    consume_firing(firing);
    merge_until(UINT64_MAX);
}

/// The records of all clauses of one firing count before any of them acts.
void LiveReport::consume_firing(std::vector<MergedRecord>& firing) {
    for (const MergedRecord& merged : firing)
        consumer_->count(merged);
    for (const MergedRecord& merged : firing)
        consumer_->consume(merged);
    firing.clear();
}

void LiveReport::tell_drops(const formats::RingRecording& ring,
                            const formats::Readings& looked_at) {
    for (const formats::CpuInfo& cpu : ring.cpus) {
        if (!cpu.counters)
            continue;
        for (unsigned slot = 0; slot < DBK_DROP_SLOTS; slot++) {
            uint64_t& reported = drops_reported_[{cpu.cpu, slot}];
            uint64_t count = cpu.counters->drops[slot];
            if (count <= reported || !is_seen(slot, looked_at))
                continue;
            shared_.flush();
            shared_.sink.message(drop_message(static_cast<enum dbk_drop>(slot), count - reported,
                                              cpu.cpu, std::nullopt));
            reported = count;
        }
    }
}

void LiveReport::newline() {
    shared_.out += '\n';
    shared_.flush();
}

void LiveReport::end() {
    if (consumer_)
        consumer_->print_unprinted();
    shared_.flush();
}

} // namespace daybreak::analyze
