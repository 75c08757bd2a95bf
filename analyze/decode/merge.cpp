// SPDX-License-Identifier: Apache-2.0
//
// RecordMerge: the records of all CPUs and rings in the order of time.
#include "analyze/decode/merge.hpp"

#include <algorithm>

namespace daybreak::analyze {

using formats::Firing;

namespace {

/// The probe ERROR, whose records are of the firing that faulted; 0: nothing was enabled on it.
uint32_t error_probe_of(const formats::RingRecording& ring) {
    auto found = std::ranges::find_if(ring.probes, [](const auto& probe) {
        return probe.second.name == "ERROR" && probe.second.provider == "dtrace";
    });
    return found == ring.probes.end() ? 0 : found->first;
}

/// Whether any record may lie elsewhere than in the order of time.
bool speculates(const formats::RingRecording& ring) {
    const std::vector<formats::EcbInfo>& ecbs = ring.ecbs.all();
    return std::any_of(ecbs.begin(), ecbs.end(), [](const formats::EcbInfo& ecb) {
        return (ecb.flags & DBK_ECB_F_SPECULATES) != 0;
    });
}

/// By ECB, of a ring with speculations: whether others are on its probe.  Else empty.
std::vector<bool> beside_others(const formats::RingRecording& ring) {
    std::vector<bool> beside;
    if (!speculates(ring))
        return beside;
    std::map<uint32_t, size_t> counts; // by probe
    for (const formats::EcbInfo& ecb : ring.ecbs.all())
        counts[ecb.probe_id]++;
    for (const formats::EcbInfo& ecb : ring.ecbs.all())
        beside.push_back(counts[ecb.probe_id] > 1);
    return beside;
}

} // namespace

RecordMerge::RecordMerge(const formats::Recording& recording, const MergeOptions& options)
    : recording_(recording), by_nanoseconds_(recording.rings.size() > 1), order_(options.order),
      horizon_mono_ns_(options.horizon_mono_ns), is_wanted_(options.is_wanted),
      notes_divided_(options.notes_divided) {
    if (notes_divided_ && options.ring)
        beside_ = beside_others(recording.rings[*options.ring]);
    const MergeStarts& starts = options.starts;
    for (size_t ring = 0; ring < recording.rings.size(); ring++) {
        if (options.ring && *options.ring != ring)
            continue;
        const std::vector<formats::CpuInfo>& cpus = recording.rings[ring].cpus;
        for (size_t cpu = 0; cpu < cpus.size(); cpu++) {
            Stream stream;
            stream.ring = ring;
            stream.recording = &recording.rings[ring];
            stream.error_probe = error_probe_of(recording.rings[ring]);
            stream.cpu = &cpus[cpu];
            if (options.tallied && !(*options.tallied)[ring].empty())
                stream.tallied = &(*options.tallied)[ring][cpu];
            if (options.yielded) {
                stream.yielded = &(*options.yielded)[ring];
                stream.epids = recording.rings[ring].ecbs.epids(*stream.yielded);
            }
            streams_.push_back(std::move(stream));
        }
    }
    for (size_t i = 0; i < streams_.size(); i++) {
        auto start = starts.find({streams_[i].recording->ring_id, streams_[i].cpu->cpu});
        begin(streams_[i], start == starts.end() ? MergeStart{} : start->second);
        streams_[i].is_made = order_ == MergeOrder::made && speculates(*streams_[i].recording);
        if (streams_[i].is_made) {
            bool is_whole = start == starts.end() && !horizon_mono_ns_;
            is_whole ? begin_made(streams_[i]) : sort(streams_[i]);
        }
        if (advance(streams_[i]))
            heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) { return later(a, b); });
}

void RecordMerge::begin(Stream& stream, const MergeStart& start) {
    while (stream.segment < stream.cpu->segments.size() &&
           stream.cpu->segments[stream.segment].sequence < start.sequence)
        stream.segment++;
    do
        read_following(stream);
    while (stream.has_following && stream.following().sequence == start.sequence &&
           stream.following().index < start.records);
    stream.following().same_firing = false;
}

/// Reads all that is left, and hands it out by the time it was made.
void RecordMerge::sort(Stream& stream) {
    std::vector<Placed> all;
    bool committed = false;
    while (stream.has_following) {
        all.push_back(stream.following());
        committed |= stream.following().record.is_committed();
        read_following(stream);
    }
    if (committed)
        std::stable_sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) {
            return a.record.ticks < b.record.ticks;
        });
    stream.sorted = std::move(all);
    for (Passed& one : passed_)
        stream.sorted_pins.push_back(std::move(one.pin));
    passed_.clear();
    read_following(stream);
}

/// Reads the next record as it lies that is of an ECB that was asked for.
void RecordMerge::read_yielded(Stream& stream) {
    do
        read_as_it_lies(stream);
    while (stream.yielded && stream.has_following && !is_yielded(stream));
}

void RecordMerge::read_following(Stream& stream) {
    Placed& next = stream.following();
    if (stream.made)
        return read_made(stream);
    if (!stream.sorted.empty()) {
        stream.has_following = stream.next_sorted < stream.sorted.size();
        if (stream.has_following)
            next = stream.sorted[stream.next_sorted++];
        return;
    }
    if (!stream.end)
        read_yielded(stream);
    else
        stream.has_following = false;
    // A firing that has begun is not divided.
    if (stream.has_following &&
        (!horizon_mono_ns_ || next.same_firing ||
         stream.recording->clock.mono_ns(next.record.arrival_ticks()) <= *horizon_mono_ns_))
        return;
    if (!stream.end && stream.cursor)
        stream.end = {next.sequence, next.index};
    if (stream.has_following)
        stream.left_epid = next.record.epid;
    stream.has_following = false;
}

/// Returns whether the record that was just read is of an ECB that was asked for.
bool RecordMerge::is_yielded(Stream& stream) {
    Placed& next = stream.following();
    auto ecb = static_cast<size_t>(next.record.ecb - stream.recording->ecbs.all().data());
    LyingFiring& firing = stream.lying_firings[next.record.is_committed()];
    firing.yields = firing.yields && next.same_firing;
    if (!(*stream.yielded)[ecb])
        return false;
    next.same_firing = firing.yields;
    firing.yields = stream.segment_yields = true;
    return true;
}

/// What version 1 knows: records of one probe at one time are of one firing.
bool RecordMerge::looks_same(uint64_t ticks, const formats::EcbInfo& ecb,
                             const formats::RecordView& record) {
    return record.ticks == ticks && record.ecb->probe_id == ecb.probe_id;
}

/// The record that was just read is of a firing that may not be whole.
void RecordMerge::note_divided(const Stream& stream) {
    const Placed& next = stream.places[1 - stream.turn];
    auto ecb = static_cast<size_t>(next.record.ecb - stream.recording->ecbs.all().data());
    if (!notes_divided_ || stream.is_ahead || (stream.yielded && !(*stream.yielded)[ecb]))
        return;
    CutFiring cut{stream.cpu->cpu, next.sequence};
    if (next.record.firing == Firing::same &&
        !stream.lying_firings[next.record.is_committed()].ecb &&
        (divided_.cut.empty() || divided_.cut.back() != cut))
        divided_.cut.push_back(cut);
    divided_.held |= next.record.is_committed() && !beside_.empty() && beside_[ecb];
}

void RecordMerge::read_as_it_lies(Stream& stream) {
    Placed& next = stream.following();
    next.sequence = stream.read_sequence;
    next.index = ++stream.read_index;
    next.firing_ticks = 0;
    while (!stream.cursor || !stream.cursor->next(next.record)) {
        bool follows = open_segment(stream);
        stream.has_following = stream.open.has_value();
        if (!stream.has_following)
            return;
        if (!follows) // it is not known what the record before was
            stream.lying_firings = {};
        next.sequence = stream.open->sequence;
        next.index = 0;
        pass_tallied(stream);
    }
    stream.read_sequence = next.sequence;
    stream.read_index = next.index;
    passed_records_ += stream.is_ahead ? 0 : 1;
    stream.has_following = true;
    LyingFiring& lying = stream.lying_firings[next.record.is_committed()];
    next.same_firing = lying.ecb && (next.record.firing == Firing::unsaid
                                         ? looks_same(lying.ticks, *lying.ecb, next.record)
                                         : next.record.firing == Firing::same);
    if (next.record.is_committed() || (next.record.firing == Firing::same && !lying.ecb))
        note_divided(stream);
    lying.ecb = next.record.ecb;
    lying.ticks = next.record.ticks;
    if (next.index == 0 && next.record.firing == Firing::same && !next.same_firing)
        next.firing_ticks = tallied_firing_ticks(stream);
}

/// The cursor is at the end of its segment: records of it may still be looked at.
void RecordMerge::end_segment(Stream& stream) {
    if (!stream.open)
        return;
    const std::optional<formats::RecordDamage>& damage = stream.cursor->damage();
    bool unreadable = damage && damage->kind == formats::FindingKind::unreadable;
    if (!stream.is_ahead && stream.open->counted &&
        stream.following().index != stream.open->record_count && !unreadable)
        recording_.add_miscount(*stream.recording, *stream.cpu, *stream.open,
                                stream.following().index);
    if (!stream.is_part && stream.cursor->pin() &&
        (!stream.yielded || std::exchange(stream.segment_yields, false)))
        passed_.push_back({static_cast<size_t>(&stream - streams_.data()), stream.open->sequence,
                           stream.cursor->pin()});
    stream.open.reset();
}

bool RecordMerge::is_wanted(const Stream& stream, size_t index) const {
    const formats::SegmentList::Part& part = stream.cpu->segments.part_of(index);
    if (part.is_run() && !is_wanted_(*stream.recording, part.run.min_ticks, part.run.max_ticks))
        return false;
    formats::SegmentInfo segment = stream.cpu->segments[index];
    return is_wanted_(*stream.recording, segment.min_ticks, segment.last_ticks);
}

/// Passes over segments of which nothing is wanted.  The last record before those left out has a
/// next one: a return looks at it (option flowindent).  What is not yielded does not exist: no
/// record of a firing that is yielded lies in a block that has none that are, since all its
/// clauses are of one probe.
void RecordMerge::skip_segments(Stream& stream) {
    const formats::SegmentList& segments = stream.cpu->segments;
    for (size_t& next = stream.segment; next < segments.size();) {
        if (stream.tallied && (*stream.tallied)[next] == kAllTallied) {
            next++;
            continue;
        }
        if (stream.yielded && !formats::may_have(segments[next], stream.epids)) {
            passed_records_ += stream.is_ahead ? 0 : segments[next].record_count;
            next++;
            continue;
        }
        if (!is_wanted_ || next == 0)
            return;
        const formats::SegmentList::Part& part = segments.part_of(next);
        if (is_wanted(stream, next) || is_wanted(stream, next - 1))
            return;
        bool is_whole =
            part.is_run() && !is_wanted_(*stream.recording, part.run.min_ticks, part.run.max_ticks);
        next = is_whole ? part.end : next + 1;
    }
}

/// Ends the open segment and opens the CPU's next one that is wanted; `open` is empty when there is
/// none.  Returns whether it goes on where the one before ended.
bool RecordMerge::open_segment(Stream& stream) {
    end_segment(stream);
    skip_segments(stream);
    if (stream.segment >= stream.cpu->segments.size())
        return false;
    stream.open = stream.cpu->segments[stream.segment++];
    bool follows = stream.cursor && !stream.cursor->damage() &&
                   stream.open->sequence == stream.following().sequence + 1;
    stream.cursor = formats::records_of(*stream.open, *stream.recording);
    return follows;
}

/// Leaves out what was counted already of the segment that was just opened.
void RecordMerge::pass_tallied(Stream& stream) {
    uint32_t count = stream.tallied ? (*stream.tallied)[stream.segment - 1] : 0;
    formats::RecordView passed;
    while (stream.following().index < count && stream.cursor->next(passed))
        stream.following().index++;
}

/// When the last firing of the segment before the open one began, if that was tallied; else 0.
uint64_t RecordMerge::tallied_firing_ticks(const Stream& stream) const {
    size_t open = stream.segment - 1;
    if (!stream.tallied || open == 0 || (*stream.tallied)[open - 1] != kAllTallied)
        return 0;
    const formats::SegmentInfo before = stream.cpu->segments[open - 1];
    if (before.sequence + 1 != stream.open->sequence)
        return 0;
    formats::RecordCursor cursor = formats::records_of(before, *stream.recording);
    formats::RecordView record;
    uint64_t ticks = 0;
    while (cursor.next(record))
        if (record.firing != Firing::same)
            ticks = record.ticks;
    return ticks;
}

void RecordMerge::drop_passed() {
    std::erase_if(passed_, [this](const Passed& one) {
        bool is_last = one.stream == last_stream_ && one.sequence == last_sequence_;
        return !is_last && streams_[one.stream].current().sequence != one.sequence;
    });
    passed_max_ = 2 * passed_.size() + kPassedMin;
}

bool RecordMerge::advance(Stream& stream) {
    if (!stream.has_following)
        return false;
    const Placed& next = stream.following();
    bool is_same = stream.is_made ? joins(stream)
                                  : next.same_firing && stream.current().record.is_committed() ==
                                                            next.record.is_committed();
    stream.turn = 1 - stream.turn;
    read_following(stream);
    Placed& current = stream.current();
    current.same_firing = is_same;
    if (is_same && stream.firing_records < DBK_FIRING_RECORDS_MAX) {
        stream.firing_records++;
        return true; // where the first of the firing is
    }
    current.same_firing = false;
    stream.firing_records = 1;
    const formats::RecordView& record = current.record;
    uint64_t ticks = order_ == MergeOrder::made ? record.ticks : record.arrival_ticks();
    if (current.firing_ticks != 0)
        ticks = current.firing_ticks;
    // A record that lies before the last one of its CPU comes next, whatever its key.
    stream.key = by_nanoseconds_ ? stream.recording->clock.mono_ns(ticks) : ticks;
    return true;
}

void RecordMerge::put_ends(MergeStarts& starts) const {
    for (const Stream& stream : streams_) {
        if (!stream.end)
            continue;
        MergeStart& start = starts[{stream.recording->ring_id, stream.cpu->cpu}];
        start = std::max(start, *stream.end);
    }
}

/// The stream in front has another key: it moves to where it belongs.
void RecordMerge::sift_down() {
    size_t at = 0, stream = heap_.front();
    for (size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
        if (child + 1 < heap_.size() && later(heap_[child], heap_[child + 1]))
            child++;
        if (!later(stream, heap_[child]))
            break;
        heap_[at] = heap_[child];
        at = child;
    }
    heap_[at] = stream;
}

bool RecordMerge::next(MergedRecord& merged) {
    if (heap_.empty())
        return false;
    Stream& stream = streams_[heap_.front()];
    const Placed& current = stream.current();
    last_stream_ = heap_.front();
    last_sequence_ = current.sequence;
    // One by one: a whole that is put together first is read in larger pieces than it was written.
    merged.ring = stream.ring;
    merged.cpu = stream.cpu->cpu;
    merged.record = current.record;
    merged.next_epid = stream.has_following ? stream.following().record.epid : stream.left_epid;
    merged.sequence = current.sequence;
    merged.index = current.index;
    merged.same_firing = current.same_firing;
    if (!advance(stream)) {
        heap_.front() = heap_.back();
        heap_.pop_back();
        if (heap_.empty())
            return true;
    }
    sift_down();
    return true;
}

} // namespace daybreak::analyze
