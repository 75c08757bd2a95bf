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
      horizon_mono_ns_(options.horizon_mono_ns), is_wanted_(options.is_wanted) {
    const MergeStarts& starts = options.starts;
    for (size_t ring = 0; ring < recording.rings.size(); ring++) {
        const std::vector<formats::CpuInfo>& cpus = recording.rings[ring].cpus;
        for (size_t cpu = 0; cpu < cpus.size(); cpu++) {
            Run run;
            run.ring = ring;
            run.recording = &recording.rings[ring];
            run.cpu = &cpus[cpu];
            if (options.tallied && !(*options.tallied)[ring].empty())
                run.tallied = &(*options.tallied)[ring][cpu];
            if (options.yielded)
                run.yielded = &(*options.yielded)[ring];
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

void RecordMerge::begin(Run& run, const MergeStart& start) {
    while (run.segment < run.cpu->segments.size() &&
           run.cpu->segments[run.segment].sequence < start.sequence)
        run.segment++;
    do
        read_following(run);
    while (run.has_following && run.following().sequence == start.sequence &&
           run.following().index < start.records);
    run.following().same_firing = false;
}

/// Reads all that is left, and hands it out by the time it was made.
void RecordMerge::sort(Run& run) {
    std::vector<Placed> all;
    bool committed = false;
    while (run.has_following) {
        all.push_back(run.following());
        committed |= run.following().record.commit_ticks != 0;
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
    Placed& next = run.following();
    if (!run.sorted.empty()) {
        run.has_following = run.next_sorted < run.sorted.size();
        if (run.has_following)
            next = run.sorted[run.next_sorted++];
        return;
    }
    if (!run.end) {
        do
            read_as_it_lies(run);
        while (run.yielded && run.has_following && !is_yielded(run));
    } else
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

/// Returns whether the record that was just read is of an ECB that was asked for.
bool RecordMerge::is_yielded(Run& run) {
    Placed& next = run.following();
    auto ecb = static_cast<size_t>(next.record.ecb - run.recording->ecbs.all().data());
    if (!next.same_firing)
        run.firing_yields = false;
    if (!(*run.yielded)[ecb])
        return false;
    next.same_firing = next.same_firing && run.firing_yields;
    run.firing_yields = run.segment_yields = true;
    return true;
}

void RecordMerge::read_as_it_lies(Run& run) {
    Placed& next = run.following();
    bool adjacent = run.has_following;
    uint64_t ticks = run.read.ticks;
    const formats::EcbInfo* ecb = run.read.ecb;
    next.sequence = run.read.sequence;
    next.index = ++run.read.index;
    next.firing_ticks = 0;
    while (!run.cursor || !run.cursor->next(next.record)) {
        bool follows = open_segment(run);
        run.has_following = run.open.has_value();
        if (!run.has_following)
            return;
        // Where records are missing it is not known what the one before was.
        adjacent = adjacent && follows;
        next.sequence = run.open->sequence;
        next.index = 0;
        pass_tallied(run);
    }
    run.read = {next.sequence, next.index, next.record.ticks, next.record.ecb};
    run.has_following = true;
    next.same_firing =
        adjacent && (next.record.firing == Firing::unsaid ? looks_same(ticks, ecb, next.record)
                                                          : next.record.firing == Firing::same);
    if (next.index == 0 && next.record.firing == Firing::same && !next.same_firing)
        next.firing_ticks = tallied_firing_ticks(run);
}

/// The cursor is at the end of its segment: records of it may still be looked at.
void RecordMerge::end_segment(Run& run) {
    if (!run.open)
        return;
    const std::optional<formats::RecordDamage>& damage = run.cursor->damage();
    bool unreadable = damage && damage->kind == formats::FindingKind::unreadable;
    if (run.open->counted && run.following().index != run.open->record_count && !unreadable)
        recording_.add_miscount(*run.recording, *run.cpu, *run.open, run.following().index);
    if (run.cursor->pin() && (!run.yielded || std::exchange(run.segment_yields, false)))
        passed_.push_back(
            {static_cast<size_t>(&run - runs_.data()), run.open->sequence, run.cursor->pin()});
    run.open.reset();
}

bool RecordMerge::is_wanted(const Run& run, size_t index) const {
    const formats::SegmentList::Part& part = run.cpu->segments.part_of(index);
    if (part.is_run() && !is_wanted_(*run.recording, part.run.min_ticks, part.run.max_ticks))
        return false;
    formats::SegmentInfo segment = run.cpu->segments[index];
    return is_wanted_(*run.recording, segment.min_ticks, segment.last_ticks);
}

/// Passes over segments of which nothing is wanted.  The last record before those left out has a next
/// one: a return looks at it (option flowindent).
void RecordMerge::skip_segments(Run& run) const {
    const formats::SegmentList& segments = run.cpu->segments;
    for (size_t& next = run.segment; next < segments.size();) {
        if (run.tallied && (*run.tallied)[next] == kAllTallied) {
            next++;
            continue;
        }
        if (!is_wanted_ || next == 0)
            return;
        const formats::SegmentList::Part& part = segments.part_of(next);
        if (is_wanted(run, next) || is_wanted(run, next - 1))
            return;
        bool is_whole = part.is_run() && !is_wanted_(*run.recording, part.run.min_ticks,
                                                     part.run.max_ticks);
        next = is_whole ? part.end : next + 1;
    }
}

/// Ends the open segment and opens the CPU's next one that is wanted; `open` is empty when there is
/// none.  Returns whether it goes on where the one before ended.
bool RecordMerge::open_segment(Run& run) {
    end_segment(run);
    skip_segments(run);
    if (run.segment >= run.cpu->segments.size())
        return false;
    run.open = run.cpu->segments[run.segment++];
    bool follows =
        run.cursor && !run.cursor->damage() && run.open->sequence == run.following().sequence + 1;
    run.cursor = formats::records_of(*run.open, *run.recording);
    return follows;
}

/// Leaves out what was counted already of the segment that was just opened.
void RecordMerge::pass_tallied(Run& run) {
    uint32_t count = run.tallied ? (*run.tallied)[run.segment - 1] : 0;
    formats::RecordView passed;
    while (run.following().index < count && run.cursor->next(passed))
        run.following().index++;
}

/// When the last firing of the segment before the open one began, if that was tallied; else 0.
uint64_t RecordMerge::tallied_firing_ticks(const Run& run) const {
    size_t open = run.segment - 1;
    if (!run.tallied || open == 0 || (*run.tallied)[open - 1] != kAllTallied)
        return 0;
    const formats::SegmentInfo before = run.cpu->segments[open - 1];
    if (before.sequence + 1 != run.open->sequence)
        return 0;
    formats::RecordCursor cursor = formats::records_of(before, *run.recording);
    formats::RecordView record;
    uint64_t ticks = 0;
    while (cursor.next(record))
        if (record.firing == Firing::begins)
            ticks = record.ticks;
    return ticks;
}

void RecordMerge::drop_passed() {
    std::erase_if(passed_, [this](const Passed& one) {
        bool is_last = one.run == last_run_ && one.sequence == last_sequence_;
        return !is_last && runs_[one.run].current().sequence != one.sequence;
    });
    passed_max_ = 2 * passed_.size() + kPassedMin;
}

bool RecordMerge::advance(Run& run) {
    if (!run.has_following)
        return false;
    run.turn = 1 - run.turn;
    read_following(run);
    Placed& current = run.current();
    if (current.same_firing && run.firing_records < DBK_FIRING_RECORDS_MAX) {
        run.firing_records++;
        return true; // where the first of the firing is
    }
    current.same_firing = false;
    run.firing_records = 1;
    const formats::RecordView& record = current.record;
    uint64_t ticks = order_ == MergeOrder::made ? record.ticks : record.arrival_ticks();
    if (current.firing_ticks != 0)
        ticks = current.firing_ticks;
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

/// The run in front has another key: it moves to where it belongs.
void RecordMerge::sift_down() {
    size_t at = 0, run = heap_.front();
    for (size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
        if (child + 1 < heap_.size() && later(heap_[child], heap_[child + 1]))
            child++;
        if (!later(run, heap_[child]))
            break;
        heap_[at] = heap_[child];
        at = child;
    }
    heap_[at] = run;
}

bool RecordMerge::next(MergedRecord& merged) {
    if (heap_.empty())
        return false;
    Run& run = runs_[heap_.front()];
    const Placed& current = run.current();
    last_run_ = heap_.front();
    last_sequence_ = current.sequence;
    merged = {run.ring,           run.cpu->cpu,
              current.record,     run.has_following ? run.following().record.epid : run.left_epid,
              current.sequence,   current.index,
              current.same_firing};
    if (!advance(run)) {
        heap_.front() = heap_.back();
        heap_.pop_back();
        if (heap_.empty())
            return true;
    }
    sift_down();
    return true;
}

} // namespace daybreak::analyze
