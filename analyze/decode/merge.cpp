// SPDX-License-Identifier: Apache-2.0
//
// RecordMerge: the records of all CPUs and rings in the order of time.
#include "analyze/decode/merge.hpp"

#include <algorithm>

namespace daybreak::analyze {

using formats::Firing;

namespace {

/// What version 1 knows: records of one probe at one time are of one firing.
bool looks_same(uint64_t ticks, const formats::EcbInfo* ecb, const formats::RecordView& record) {
    return record.ticks == ticks && record.ecb->probe_id == ecb->probe_id;
}

/// Whether any record may lie elsewhere than in the order of time.
bool speculates(const formats::RingRecording& ring) {
    const std::vector<formats::EcbInfo>& ecbs = ring.ecbs.all();
    return std::any_of(ecbs.begin(), ecbs.end(), [](const formats::EcbInfo& ecb) {
        return (ecb.flags & DBK_ECB_F_SPECULATES) != 0;
    });
}

} // namespace

RecordMerge::RecordMerge(const formats::Recording& recording, const MergeOptions& options)
    : recording_(recording), by_nanoseconds_(recording.rings.size() > 1), order_(options.order),
      horizon_mono_ns_(options.horizon_mono_ns) {
    const MergeStarts& starts = options.starts;
    for (size_t ring = 0; ring < recording.rings.size(); ring++) {
        for (const formats::CpuInfo& cpu : recording.rings[ring].cpus) {
            Run run;
            run.ring = ring;
            run.recording = &recording.rings[ring];
            run.cpu = &cpu;
            runs_.push_back(std::move(run));
        }
    }
    for (size_t i = 0; i < runs_.size(); i++) {
        auto start = starts.find({runs_[i].recording->ring_id, runs_[i].cpu->cpu});
        begin(runs_[i], start == starts.end() ? MergeStart{} : start->second);
        if (order_ == MergeOrder::made && speculates(*runs_[i].recording))
            sort(runs_[i]);
        if (advance(runs_[i]))
            heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) { return later(a, b); });
}

bool RecordMerge::later(size_t a, size_t b) const {
    return runs_[a].key != runs_[b].key ? runs_[a].key > runs_[b].key : a > b;
}

void RecordMerge::begin(Run& run, const MergeStart& start) {
    while (run.segment < run.cpu->segments.size() &&
           run.cpu->segments[run.segment].sequence < start.sequence)
        run.segment++;
    do
        read_following(run);
    while (run.has_following && run.following.sequence == start.sequence &&
           run.following.index < start.records);
    run.following.same_firing = false;
}

/// Reads all that is left, and hands it out by the time it was made.
void RecordMerge::sort(Run& run) {
    std::vector<Placed> all;
    bool committed = false;
    while (run.has_following) {
        all.push_back(run.following);
        committed |= run.following.record.commit_ticks != 0;
        read_following(run);
    }
    if (committed) {
        std::stable_sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) {
            return a.record.ticks < b.record.ticks;
        });
        for (size_t i = 1; i < all.size(); i++)
            if (all[i].record.firing == Firing::unsaid)
                all[i].same_firing =
                    looks_same(all[i - 1].record.ticks, all[i - 1].record.ecb, all[i].record);
    }
    run.sorted = std::move(all);
    for (Passed& one : passed_)
        run.sorted_pins.push_back(std::move(one.pin));
    passed_.clear();
    read_following(run);
}

void RecordMerge::read_following(Run& run) {
    Placed& next = run.following;
    if (!run.sorted.empty()) {
        run.has_following = run.next_sorted < run.sorted.size();
        if (run.has_following)
            next = run.sorted[run.next_sorted++];
        return;
    }
    if (!run.end)
        read_as_it_lies(run);
    else
        run.has_following = false;
    // A firing that has begun is not divided.
    if (run.has_following &&
        (!horizon_mono_ns_ || next.same_firing ||
         run.recording->clock.mono_ns(next.record.arrival_ticks()) <= *horizon_mono_ns_))
        return;
    if (!run.end && run.cursor)
        run.end = {next.sequence, next.index};
    if (run.has_following)
        run.left_epid = next.record.epid;
    run.has_following = false;
}

void RecordMerge::read_as_it_lies(Run& run) {
    Placed& next = run.following;
    bool adjacent = run.has_following;
    uint64_t ticks = next.record.ticks;
    const formats::EcbInfo* ecb = next.record.ecb;
    next.index++;
    while (!run.cursor || !run.cursor->next(next.record)) {
        end_segment(run);
        while (is_skipped(run))
            run.segment++;
        run.has_following = run.segment < run.cpu->segments.size();
        if (!run.has_following)
            return;
        const formats::SegmentInfo& segment = run.cpu->segments[run.segment++];
        // Where records are missing it is not known what the one before was.
        adjacent = adjacent && !run.cursor->damage() && segment.sequence == next.sequence + 1;
        run.open = &segment;
        run.cursor = formats::records_of(segment, *run.recording);
        next.sequence = segment.sequence;
        next.index = 0;
    }
    run.has_following = true;
    next.same_firing =
        adjacent && (next.record.firing == Firing::unsaid ? looks_same(ticks, ecb, next.record)
                                                          : next.record.firing == Firing::same);
}

/// The cursor is at the end of its segment: records of it may still be looked at.
void RecordMerge::end_segment(Run& run) {
    if (!run.open)
        return;
    const std::optional<formats::RecordDamage>& damage = run.cursor->damage();
    bool unreadable = damage && damage->kind == formats::FindingKind::unreadable;
    if (run.open->counted && run.following.index != run.open->record_count && !unreadable)
        recording_.add_miscount(*run.recording, *run.cpu, *run.open, run.following.index);
    if (run.cursor->pin())
        passed_.push_back(
            {static_cast<size_t>(&run - runs_.data()), run.open->sequence, run.cursor->pin()});
    run.open = nullptr;
}

/// The last record before those left out has a next one: a return looks at it (option flowindent).
bool RecordMerge::is_skipped(const Run& run) const {
    const std::vector<formats::SegmentInfo>& segments = run.cpu->segments;
    size_t next = run.segment;
    return is_wanted_ && next > 0 && next < segments.size() &&
           !is_wanted_(*run.recording, segments[next]) &&
           !is_wanted_(*run.recording, segments[next - 1]);
}

void RecordMerge::drop_passed() {
    std::erase_if(passed_, [this](const Passed& one) {
        bool is_last = one.run == last_run_ && one.sequence == last_sequence_;
        return !is_last && runs_[one.run].current.sequence != one.sequence;
    });
    passed_max_ = 2 * passed_.size() + kPassedMin;
}

bool RecordMerge::advance(Run& run) {
    if (!run.has_following)
        return false;
    run.current = run.following;
    read_following(run);
    if (run.current.same_firing && run.firing_records < DBK_FIRING_RECORDS_MAX) {
        run.firing_records++;
        return true; // where the first of the firing is
    }
    run.current.same_firing = false;
    run.firing_records = 1;
    const formats::RecordView& record = run.current.record;
    uint64_t ticks = order_ == MergeOrder::made ? record.ticks : record.arrival_ticks();
    // A record that lies before the last one of its CPU comes next, whatever its key.
    run.key = by_nanoseconds_ ? run.recording->clock.mono_ns(ticks) : ticks;
    return true;
}

void RecordMerge::put_ends(MergeStarts& starts) const {
    for (const Run& run : runs_) {
        if (!run.end)
            continue;
        MergeStart& start = starts[{run.recording->ring_id, run.cpu->cpu}];
        start = std::max(start, *run.end);
    }
}

bool RecordMerge::next(MergedRecord& merged) {
    if (heap_.empty())
        return false;
    auto order = [this](size_t a, size_t b) { return later(a, b); };
    Run& run = runs_[heap_.front()];
    last_run_ = heap_.front();
    last_sequence_ = run.current.sequence;
    merged = {run.ring,
              run.cpu->cpu,
              run.current.record,
              run.has_following ? run.following.record.epid : run.left_epid,
              run.current.sequence,
              run.current.index,
              run.current.same_firing};
    if (heap_.size() == 1) {
        if (!advance(run))
            heap_.clear();
        return true;
    }
    std::pop_heap(heap_.begin(), heap_.end(), order);
    if (advance(run))
        std::push_heap(heap_.begin(), heap_.end(), order);
    else
        heap_.pop_back();
    return true;
}

} // namespace daybreak::analyze
