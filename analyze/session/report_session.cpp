// SPDX-License-Identifier: Apache-2.0
//
// ReportSession: the one loop that turns recorded pieces into what dtrace(1) prints.
#include "analyze/session/report_session.hpp"

#include "analyze/decode/small_ring.hpp"
#include "base/counted.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// Snapshots that may wait for their records; more than that are merged before their time.
constexpr size_t kHeldBytesMax = 64u << 20;

constexpr uint64_t kRecordsAStep = 1u << 16; // between two calls of ReportOptions::progress

} // namespace

ReportSession::ReportSession(const ReportOptions& options, Sink& sink)
    : options_(options),
      names_(options.symbols, options.users, options.user_style), shared_{sink, names_,
                                                                          options_.hooks,
                                                                          options.testing} {
    shared_.json = options.json;
    shared_.totals = options.totals;
    shared_.target_pid = options.target_pid;
}

ReportSession::Ring* ReportSession::find(uint16_t ring_id) {
    for (Ring& ring : rings_)
        if (ring.ring_id == ring_id)
            return &ring;
    return nullptr;
}

/// Makes or extends the consumers.  Returns whether any of them refers to this recording.
bool ReportSession::take_rings(const formats::Recording& recording) {
    bool refers = false, has_snapshots = false;
    fed_.clear();
    for (const formats::RingRecording& recorded : recording.rings) {
        Ring* ring = find(recorded.ring_id);
        size_t ecbs = recorded.ecbs.all().size();
        bool is_needed = !ring || ecbs > ring->ecbs_known;
        if (!ring) {
            ring = &rings_.emplace_back();
            ring->ring_id = recorded.ring_id;
            ring->consumer =
                std::make_unique<Consumer>(recorded, options_.output, shared_,
                                           options_.aggregation_bytes_max, options_.probes);
        } else if (is_needed) {
            ring->consumer->extend(recorded);
        }
        refers |= is_needed;
        ring->ecbs_known = std::max(ring->ecbs_known, ecbs);
        ring->fed = &recorded;
        take_snapshots(*ring);
        has_snapshots |= !ring->snapshots.empty();
        fed_.push_back(ring);
    }
    if (has_snapshots && !std::exchange(noted_snapshots_, true))
        note_snapshots();
    return refers;
}

/// What the engine has counted says neither when nor of which probe.
void ReportSession::note_snapshots() {
    if (options_.window.is_set())
        shared_.note(
            "aggregations counted by the engine cover the whole recording, not the window");
    for (const Ring* ring : fed_)
        if (std::string names = ring->consumer->shared_aggregations();
            !ring->snapshots.empty() && !names.empty())
            shared_.note("aggregations counted by the engine are not divided by probes: " + names +
                         " also has what others than " + options_.probes.description() +
                         " counted");
}

void ReportSession::take_snapshots(Ring& ring) {
    for (const formats::CpuInfo& cpu : ring.fed->cpus)
        for (const formats::AggregationSnapshot& snapshot : cpu.aggregations)
            ring.snapshots.push_back({&snapshot, nullptr});
    std::stable_sort(ring.snapshots.begin(), ring.snapshots.end(),
                     [](const Waiting& a, const Waiting& b) {
                         return a.snapshot->base_ticks < b.snapshot->base_ticks;
                     });
}

/// Returns where to go on; a CPU that is new may have a ring of less than a segment.
MergeStarts ReportSession::starts(const formats::Recording& recording) const {
    MergeStarts starts = starts_;
    starts.merge(small_ring_starts(recording));
    return starts;
}

/// Empty: all are.
YieldedEcbs ReportSession::yielded_ecbs() const {
    YieldedEcbs yielded;
    if (!options_.probes.is_set())
        return yielded;
    for (const Ring* ring : fed_) {
        std::vector<bool>& ecbs = yielded.emplace_back();
        for (const formats::EcbInfo& ecb : ring->fed->ecbs.all())
            ecbs.push_back(ring->consumer->is_consumed(ecb));
    }
    return yielded;
}

/// One ring with option temporal is enough: they are printed together.
MergeOrder ReportSession::order() const {
    for (const Ring& ring : rings_)
        if (ring.consumer->options().temporal)
            return MergeOrder::made;
    return MergeOrder::arrival;
}

bool ReportSession::feed(const formats::Recording& recording, std::vector<Drop> drops,
                         std::optional<uint64_t> horizon_mono_ns) {
    bool refers = take_rings(recording);
    order_ = order();
    drops_ = std::move(drops);
    next_drop_ = 0;
    MergeOptions merge_options;
    merge_options.starts = starts(recording);
    merge_options.order = order_;
    merge_options.horizon_mono_ns = horizon_mono_ns;
    const YieldedEcbs yielded = yielded_ecbs();
    if (!yielded.empty())
        merge_options.yielded = &yielded;
    std::unique_ptr<Tally> tallied = tally(recording, merge_options);
    if (tallied)
        merge_options.tallied = &tallied->tallied();
    if (options_.window.is_set())
        merge_options.is_wanted = [this](const auto& ring, uint64_t min_ticks, uint64_t max_ticks) {
            return options_.window.overlaps(ring.clock.mono_ns(min_ticks),
                                            ring.clock.mono_ns(max_ticks));
        };
    RecordMerge merge(recording, merge_options);
    MergedRecord merged;
    for (uint64_t read = 1; merge.next(merged); read++) {
        if (read % kRecordsAStep == 0 && has_to_stop(read + (tallied ? tallied->records() : 0)))
            break;
        if (!firing_.empty() && !is_same_firing(firing_.back(), merged))
            consume_firing();
        if (firing_.empty())
            merge.give_back();
        firing_.push_back(merged);
    }
    consume_firing();
    merge.put_ends(starts_);
    report_drops(UINT64_MAX);
    settle_snapshots(interrupted_after_ && last_clock_
                         ? std::optional(last_clock_->mono_ns(last_ticks_))
                         : horizon_mono_ns);
    shared_.flush();
    if (last_clock_)
        printed_.last_boot_ns = std::max(printed_.last_boot_ns,
                                         last_clock_->boot_ns(last_clock_->mono_ns(last_ticks_)));
    last_clock_ = nullptr;
    return refers;
}

bool ReportSession::has_to_stop(uint64_t records) {
    if (options_.progress)
        options_.progress(records);
    if (options_.interrupted && options_.interrupted())
        interrupted_after_ = records;
    return interrupted_after_.has_value();
}

/// Counts what may be counted in any order.  Of a ring that grows nothing is, and of small rings
/// whose records begin within a segment: the merge alone knows where to go on.
std::unique_ptr<Tally> ReportSession::tally(const formats::Recording& recording,
                                            const MergeOptions& options) {
    if (options_.grows || !options.starts.empty())
        return nullptr;
    std::vector<Consumer*> consumers;
    for (const Ring* ring : fed_)
        consumers.push_back(ring->consumer.get());
    const YieldedEcbs none;
    auto tally = std::make_unique<Tally>(recording, std::move(consumers), options_.window,
                                         options.yielded ? *options.yielded : none);
    tally->run();
    if (tally->records() == 0)
        return nullptr;
    printed_.count += tally->wanted_records();
    printed_.first_boot_ns = tally->first_boot_ns();
    printed_.last_boot_ns = tally->last_boot_ns();
    return tally;
}

/// Adds the snapshots in which counting had begun by then: as dtrace(1) does, which takes a
/// snapshot before it reads what was recorded up to it.
void ReportSession::merge_until(Ring& ring, uint64_t ticks) {
    for (; !ring.snapshots.empty() && ring.snapshots.front().snapshot->base_ticks <= ticks;
         ring.snapshots.pop_front())
        ring.consumer->merge(*ring.snapshots.front().snapshot);
}

/// Merges what no record to come stands before.  What has to wait is held beyond this feed.
void ReportSession::settle_snapshots(std::optional<uint64_t> horizon_mono_ns) {
    size_t held = 0;
    for (Ring* ring : fed_) {
        while (!ring->snapshots.empty()) {
            uint64_t base_ticks = ring->snapshots.front().snapshot->base_ticks;
            if (horizon_mono_ns && ring->fed->clock.mono_ns(base_ticks) > *horizon_mono_ns)
                break;
            merge_until(*ring, base_ticks);
        }
        for (Waiting& waiting : ring->snapshots) {
            if (!waiting.held) {
                base::ByteView bytes = waiting.snapshot->bytes.view(); // a live ring's: in memory
                waiting.held = std::make_unique<Held>(
                    Held{*waiting.snapshot, base::Bytes(bytes.begin(), bytes.end())});
                waiting.held->snapshot.bytes = base::ByteView(waiting.held->bytes);
                waiting.snapshot = &waiting.held->snapshot;
            }
            held += waiting.held->bytes.size();
        }
    }
    for (Ring* ring : fed_)
        if (held > kHeldBytesMax)
            merge_until(*ring, UINT64_MAX);
}

/// Takes the records of all clauses of one firing: what they aggregate counts before any of them
/// acts, as if dtrace(1) had taken its snapshot after the firing.
void ReportSession::consume_firing() {
    if (firing_.empty())
        return;
    Ring& ring = *fed_[firing_[0].ring];
    const formats::ClockModel& clock = ring.fed->clock;
    uint64_t ticks = firing_[0].record.ticks;
    uint64_t place_ticks =
        order_ == MergeOrder::made ? ticks : firing_.back().record.arrival_ticks();
    // Converting a time costs as much as printing a line: only when it is asked for.
    if (options_.window.is_set() || next_drop_ < drops_.size()) {
        uint64_t mono_ns = clock.mono_ns(ticks);
        if (!options_.window.has(mono_ns)) {
            firing_.clear();
            return;
        }
        report_drops(mono_ns);
    }
    merge_until(ring, place_ticks);
    AddressNames::Moment moment(names_, &clock, ticks);
    if (printed_.count == 0 || !last_clock_)
        put_first(clock.boot_ns(clock.mono_ns(ticks)));
    uint64_t last_ticks = std::max(ticks, firing_.back().record.ticks);
    last_ticks_ = last_clock_ == &clock ? std::max(last_ticks_, last_ticks) : last_ticks;
    last_clock_ = &clock;
    for (const MergedRecord& merged : firing_) {
        ring.consumer->count(merged);
        // A fault may be of another probe's clause: the consumer looks, and it does not count.
        printed_.count += options_.probes.has(ring.ring_id, merged.record.ecb->probe_id);
    }
    for (const MergedRecord& merged : firing_)
        ring.consumer->consume(merged);
    firing_.clear();
}

/// Of each feed the first record that is printed; what was tallied may be earlier or later.
void ReportSession::put_first(uint64_t boot_ns) {
    bool is_first = printed_.count == 0;
    printed_.first_boot_ns = is_first ? boot_ns : std::min(printed_.first_boot_ns, boot_ns);
}

/// A fill buffer that is full ends tracing, and dtrace(1) says nothing about it.
bool ReportSession::is_reported(const Drop& drop) const {
    if (drop.cause == DBK_DROP_FILLED && options_.testing)
        return false;
    return !drop.interval_mono_ns ||
           options_.window.overlaps(drop.interval_mono_ns->first, drop.interval_mono_ns->second);
}

/// Reports the drops that lie before a time, UINT64_MAX: all of them.
void ReportSession::report_drops(uint64_t mono_ns) {
    for (; next_drop_ < drops_.size(); next_drop_++) {
        const Drop& drop = drops_[next_drop_];
        uint64_t place_ns = drop.interval_mono_ns ? drop.interval_mono_ns->second : UINT64_MAX;
        if (place_ns > mono_ns)
            return;
        if (!is_reported(drop))
            continue;
        shared_.flush();
        shared_.sink.message(message_of(drop));
    }
}

std::vector<Answer> ReportSession::answers() const {
    std::vector<Answer> answers;
    for (const Ring& ring : rings_)
        ring.consumer->add_answers(answers);
    return answers;
}

void ReportSession::problem(const std::string& text) {
    shared_.problem(text);
    shared_.flush();
}

void ReportSession::newline() {
    shared_.out += '\n';
    shared_.flush();
}

void ReportSession::end() {
    for (Ring& ring : rings_) {
        merge_until(ring, UINT64_MAX);
        ring.consumer->print_unprinted();
    }
    shared_.flush();
    if (shared_.problems > kProblemsReported)
        shared_.note(base::counted(shared_.problems - kProblemsReported, "further problem") +
                     " of that sort");
}

} // namespace daybreak::analyze
