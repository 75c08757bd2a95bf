// SPDX-License-Identifier: Apache-2.0
//
// Report: what dtrace(1) would have printed of a recording (docs/design/0004-printing-recordings.md).
#include "analyze/report.hpp"

#include "base/counted.hpp"
#include "analyze/consume/drop_text.hpp"
#include "analyze/consume/merge.hpp"
#include "analyze/consume/small_ring.hpp"

#include <algorithm>
#include <memory>

namespace daybreak::analyze {

namespace {

/// Drops of one interval, to be reported when the records have passed it.
struct PendingDrop {
    uint64_t to_mono_ns;
    const formats::RingRecording* ring;
    uint16_t cpu;
    const formats::DropInterval* interval;
};

/// One ring at work.
struct RingState {
    const formats::RingRecording* recording;
    std::unique_ptr<Consumer> consumer;
    std::vector<const formats::AggregationSnapshot*> snapshots; ///< ascending by base_ticks
    size_t next_snapshot = 0;

    /// Adds the snapshots in which counting had begun by then: as dtrace(1) does, which takes a
    /// snapshot before it reads what was recorded up to it.
    void merge_until(uint64_t ticks) {
        for (; next_snapshot < snapshots.size() && snapshots[next_snapshot]->base_ticks <= ticks;
             next_snapshot++)
            consumer->merge(*snapshots[next_snapshot]);
    }
};

class Renderer {
public:
    Renderer(const formats::Recording& recording, const ReportOptions& options, Sink& sink)
        : recording_(recording), options_(options),
          names_(options.symbols, options.users), shared_{sink, names_, options.hooks,
                                                          options.testing} {}

    Report render() {
        shared_.json = options_.json;
        begin();
        order_ = order();
        RecordMerge merge(recording_, small_ring_starts(recording_), order_);
        MergedRecord merged;
        while (merge.next(merged)) {
            if (!firing_.empty() && !is_same_firing(firing_.back(), merged))
                consume_firing();
            firing_.push_back(merged);
        }
        consume_firing();
        end();
        return std::move(report_);
    }

private:
    void begin();
    MergeOrder order() const;
    bool is_same_firing(const MergedRecord& a, const MergedRecord& b) const;
    void consume_firing();
    void end();
    bool in_window(const formats::ClockModel& clock, uint64_t mono_ns);
    void tell_drops(uint64_t mono_ns);
    void tell_unseen_drops();
    bool is_reported(enum dbk_drop cause) const;

    const formats::Recording& recording_;
    const ReportOptions& options_;
    AddressNames names_;
    ConsumerShared shared_;
    Report report_;
    MergeOrder order_ = MergeOrder::arrival;
    std::vector<RingState> rings_;
    std::vector<MergedRecord> firing_; // records of one firing, in order
    std::vector<PendingDrop> drops_;   // ascending by to_mono_ns
    size_t next_drop_ = 0;
    uint64_t last_ticks_ = 0;                         // of the last record in the window,
    const formats::ClockModel* last_clock_ = nullptr; // and its ring's clock
    std::optional<uint64_t> first_boot_ns_;           // of all records, in the window or not
};

void Renderer::begin() {
    bool has_snapshots = false;
    for (const formats::RingRecording& ring : recording_.rings) {
        RingState state{&ring,
                        std::make_unique<Consumer>(ring, options_.output, shared_,
                                                   options_.aggregation_bytes_max),
                        {}};
        for (const formats::CpuInfo& cpu : ring.cpus) {
            for (const formats::AggregationSnapshot& snapshot : cpu.aggregations)
                state.snapshots.push_back(&snapshot);
            for (const formats::DropInterval& interval : cpu.completeness.intervals)
                drops_.push_back({interval.to_mono_ns, &ring, cpu.cpu, &interval});
        }
        std::stable_sort(state.snapshots.begin(), state.snapshots.end(),
                         [](auto* a, auto* b) { return a->base_ticks < b->base_ticks; });
        has_snapshots |= !state.snapshots.empty();
        rings_.push_back(std::move(state));
    }
    std::stable_sort(drops_.begin(), drops_.end(), [](const PendingDrop& a, const PendingDrop& b) {
        return a.to_mono_ns < b.to_mono_ns;
    });
    if (has_snapshots && options_.window.is_set())
        shared_.note(
            "aggregations counted by the engine cover the whole recording, not the window");
}

/// One ring with option temporal is enough: they are printed together.
MergeOrder Renderer::order() const {
    for (const RingState& ring : rings_)
        if (ring.consumer->options().temporal)
            return MergeOrder::made;
    return MergeOrder::arrival;
}

bool Renderer::in_window(const formats::ClockModel& clock, uint64_t mono_ns) {
    uint64_t boot_ns = clock.boot_ns(mono_ns);
    if (!first_boot_ns_)
        first_boot_ns_ = boot_ns;
    const TimeWindow& window = options_.window;
    uint64_t time = window.is_monotonic ? mono_ns : boot_ns;
    if (window.from_first_record)
        time = boot_ns > *first_boot_ns_ ? boot_ns - *first_boot_ns_ : 0;
    return (!window.since_ns || time >= *window.since_ns) &&
           (!window.until_ns || time <= *window.until_ns);
}

bool Renderer::is_same_firing(const MergedRecord& a, const MergedRecord& b) const {
    return a.ring == b.ring && a.cpu == b.cpu && a.record.ticks == b.record.ticks &&
           a.record.ecb->probe_id == b.record.ecb->probe_id;
}

/// Takes the records of all clauses of one firing: what they aggregate counts before any of them
/// acts, as if dtrace(1) had taken its snapshot after the firing.
void Renderer::consume_firing() {
    if (firing_.empty())
        return;
    RingState& ring = rings_[firing_[0].ring];
    const formats::ClockModel& clock = ring.recording->clock;
    uint64_t ticks = firing_[0].record.ticks;
    uint64_t place_ticks =
        order_ == MergeOrder::made ? ticks : firing_.back().record.arrival_ticks();
    // Converting a time costs as much as printing a line: only when it is asked for.
    if (options_.window.is_set() || next_drop_ < drops_.size()) {
        uint64_t mono_ns = clock.mono_ns(ticks);
        if (!in_window(clock, mono_ns)) {
            firing_.clear();
            return;
        }
        tell_drops(mono_ns);
    }
    ring.merge_until(place_ticks); // what is printed stands where its records stand
    if (report_.records == 0)
        report_.first_boot_ns = clock.boot_ns(clock.mono_ns(ticks));
    report_.records += firing_.size();
    last_ticks_ = last_clock_ == &clock ? std::max(last_ticks_, ticks) : ticks;
    last_clock_ = &clock;
    for (const MergedRecord& merged : firing_)
        ring.consumer->count(merged);
    for (const MergedRecord& merged : firing_)
        ring.consumer->consume(merged);
    firing_.clear();
}

/// A fill buffer that is full ends tracing, and dtrace(1) says nothing about it.
bool Renderer::is_reported(enum dbk_drop cause) const {
    return cause != DBK_DROP_FILLED || !options_.testing;
}

void Renderer::tell_drops(uint64_t mono_ns) {
    for (; next_drop_ < drops_.size() && drops_[next_drop_].to_mono_ns <= mono_ns; next_drop_++) {
        const PendingDrop& drop = drops_[next_drop_];
        const formats::ClockModel& clock = drop.ring->clock;
        uint64_t from = clock.boot_ns(drop.interval->from_mono_ns);
        uint64_t to = clock.boot_ns(drop.interval->to_mono_ns);
        const TimeWindow& window = options_.window;
        uint64_t origin = window.from_first_record ? first_boot_ns_.value_or(0) : 0;
        uint64_t since = origin + window.since_ns.value_or(0);
        uint64_t until = window.until_ns ? origin + *window.until_ns : UINT64_MAX;
        bool before = (window.is_monotonic ? drop.interval->to_mono_ns : to) < since;
        bool after = (window.is_monotonic ? drop.interval->from_mono_ns : from) > until;
        if (before || after || !is_reported(drop.interval->cause))
            continue;
        shared_.flush();
        shared_.sink.message(drop_message(drop.interval->cause, drop.interval->count, drop.cpu,
                                          std::pair(from, to)));
    }
}

void Renderer::tell_unseen_drops() {
    for (const formats::RingRecording& ring : recording_.rings)
        for (const formats::CpuInfo& cpu : ring.cpus)
            for (unsigned slot = 0; slot < DBK_DROP_SLOTS; slot++)
                if (uint64_t count = cpu.completeness.drops_unseen[slot];
                    count != 0 && is_reported(static_cast<enum dbk_drop>(slot)))
                    shared_.sink.message(drop_message(static_cast<enum dbk_drop>(slot), count,
                                                      cpu.cpu, std::nullopt));
}

void Renderer::end() {
    tell_drops(UINT64_MAX);
    shared_.flush();
    tell_unseen_drops();
    for (RingState& ring : rings_)
        ring.merge_until(UINT64_MAX);
    if (!options_.json)
        shared_.out += '\n';
    for (RingState& ring : rings_)
        ring.consumer->print_unprinted();
    shared_.flush();
    if (shared_.problems > kProblemsReported)
        shared_.note(base::counted(shared_.problems - kProblemsReported, "further problem") +
                     " of that sort");
    if (last_clock_)
        report_.last_boot_ns = last_clock_->boot_ns(last_clock_->mono_ns(last_ticks_));
    report_.exit_status = shared_.exit_status;
    report_.problems = shared_.problems;
    report_.completeness = completeness_of(recording_);
    report_.unnamed = names_.unnamed();
}

} // namespace

Report render_report(const formats::Recording& recording, const ReportOptions& options,
                     Sink& sink) {
    return Renderer(recording, options, sink).render();
}

} // namespace daybreak::analyze
