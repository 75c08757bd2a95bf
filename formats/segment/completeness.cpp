// SPDX-License-Identifier: Apache-2.0
//
// Accounting for every record a CPU committed: present, overwritten, lost, or not copied.
//
// The facts: a segment says how many records were committed before it, the CPU's counters say how
// many in all and which segment is the oldest not overwritten, the walk says how many are readable.
// An absent number below the oldest was overwritten, one above should be here.  Where nothing says
// which is the oldest, a ring of N segments per CPU keeps the newest N sequence numbers (one less
// while the next is being opened).  All arithmetic saturates: the facts are untrusted.
//
// A recorder that follows a ring writes a row of numbered files, which reach back further than the
// ring.  Between two segments of a row nothing may be absent: when all files from the one's to the
// other's are here it is lost, else it is in the files that are not here, rotated away.  A snapshot
// of a window leaves out what is before it, which is not a loss either.  Of a file alone, too, what
// is absent between two segments is lost when blocks of it are.  A file that was cut to a
// window says what it left out, in stretches, which are accounted for as the segments would be but
// are rotated, not present.
#include "formats/segment/builder_state.hpp"

#include "base/counted.hpp"

#include <algorithm>
#include <cinttypes>
#include <tuple>

namespace daybreak::formats {

namespace {

using base::strprintf;

uint64_t minus(uint64_t a, uint64_t b) {
    return a > b ? a - b : 0;
}
uint64_t plus(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/// A segment, a run of some, or several that were left out.
struct Stretch {
    uint64_t first_sequence = 0, last_sequence = 0;
    uint64_t records_before = 0, records = 0;
    uint32_t file_number = 0, window_id = 0;
    bool damaged = false;

    explicit Stretch(const SegmentInfo& segment)
        : first_sequence(segment.sequence), last_sequence(segment.sequence),
          records_before(segment.records_before), records(segment.record_count),
          file_number(segment.file_number), window_id(segment.window_id),
          damaged(segment.damaged != 0) {}
    explicit Stretch(const SegmentRun& run)
        : first_sequence(run.first_sequence), last_sequence(run.last_sequence()),
          records_before(run.records_before), records(run.record_count),
          file_number(run.file_number), window_id(run.window_id) {}
    explicit Stretch(const LeftOut& one)
        : first_sequence(one.first_sequence), last_sequence(one.last_sequence),
          records_before(one.records_before), records(one.records), file_number(one.file_number),
          window_id(one.window_id) {}

    /// Returns how many records were committed before what follows it.
    uint64_t records_after() const { return plus(records_before, records); }
};

/// The accounting of one CPU.
class Accountant {
public:
    Accountant(const RingRecording& ring, CpuInfo& cpu, const std::set<uint32_t>& file_numbers,
               bool blocks_lost, Findings& findings)
        : ring_(ring), cpu_(cpu), file_numbers_(file_numbers), blocks_lost_(blocks_lost),
          findings_(findings), sum_(cpu.completeness) {}

    void run() {
        uint32_t activity = ring_.info.facts.activity;
        stopped_ =
            ring_.has_info && (activity == DBK_ACTIVITY_STOPPED || activity == DBK_ACTIVITY_KILLED);
        const auto& parts = cpu_.segments.parts();
        if (!parts.empty())
            newest_ = parts.back().is_run() ? parts.back().run.last_sequence()
                                            : parts.back().segments.back().sequence;
        if (!cpu_.left_out.empty())
            newest_ = std::max(newest_, cpu_.left_out.back().last_sequence);
        if (cpu_.counters && stopped_)
            newest_ = std::max(newest_, cpu_.counters->segments);
        stretches();
        tail();
        drops();
    }

private:
    /// Returns the first sequence number that should be here.
    uint64_t first_kept() const {
        uint64_t slots = ring_.info.facts.segments_per_cpu;
        bool fill = ring_.has_info && ring_.info.facts.policy == DBK_POLICY_FILL;
        if (fill)
            return 1;
        if (cpu_.counters && cpu_.counters->oldest_sequence != 0 &&
            cpu_.counters->oldest_sequence <= plus(newest_, 1)) {
            // What was opened after the counters were copied overwrote one each at most, and one
            // more may have been under way.
            uint64_t since = minus(newest_, cpu_.counters->segments);
            return plus(cpu_.counters->oldest_sequence, since == 0 ? 0 : plus(since, 1));
        }
        if (slots == 0)
            return newest_; // nothing known: what is absent was overwritten
        return newest_ + 2 > slots ? newest_ + 2 - slots : 1;
    }

    /// What a series of files says about the segments between two of it.
    enum class RowSays : uint8_t { nothing, rotated, missing };

    RowSays row_between(const std::optional<Stretch>& previous, const Stretch& next) const {
        if (next.window_id != 0 && (!previous || previous->window_id != next.window_id))
            return RowSays::rotated; // a snapshot leaves out what is before its window
        uint32_t to = next.file_number, from = previous ? previous->file_number : 1;
        if (to == 0 || from == 0) // a file alone: what it lost was not overwritten
            return previous && blocks_lost_ ? RowSays::missing : RowSays::nothing;
        if (from > to)
            std::swap(from, to);
        auto low = file_numbers_.lower_bound(from), high = file_numbers_.upper_bound(to);
        auto here = static_cast<uint64_t>(std::distance(low, high));
        if (here < uint64_t{to} - from + 1)
            return RowSays::rotated;
        // Before the first file lies what the ring had overwritten before the recorder came.
        return previous ? RowSays::missing : RowSays::nothing;
    }

    void gap(uint64_t first, uint64_t last, uint64_t records, bool known, bool overwritten) {
        cpu_.gaps.push_back({first, last, records, known, overwritten, false, false});
        if (overwritten)
            return;
        sum_.segments_missing = plus(sum_.segments_missing, last - first + 1);
        findings_.add(
            FindingKind::missing_segment, strprintf("ring %u cpu %u", ring_.ring_id, cpu_.cpu),
            (first == last ? strprintf("segment %" PRIu64, first)
                           : strprintf("segments %" PRIu64 "..%" PRIu64, first, last)) +
                (known ? " with " + base::counted(records, "record") : "") +
                (first == last ? " is not there" : " are not there"));
    }

    /// Accounts for all that is here or left out, ascending, and for what lies between.
    void stretches() {
        size_t left = 0;
        auto add = [&](const Stretch& present) {
            for (; left < cpu_.left_out.size() &&
                   cpu_.left_out[left].first_sequence < present.first_sequence;
                 left++)
                leave_out(cpu_.left_out[left], &present);
            sum_.present = plus(sum_.present, present.records);
            sum_.segments_present += present.last_sequence - present.first_sequence + 1;
            sum_.segments_damaged += present.damaged;
            take(present);
        };
        for (const SegmentList::Part& part : cpu_.segments.parts()) {
            if (part.is_run())
                add(Stretch(part.run));
            for (const SegmentInfo& segment : part.segments)
                add(Stretch(segment));
        }
        for (; left < cpu_.left_out.size(); left++)
            leave_out(cpu_.left_out[left], nullptr);
    }

    /// A stretch that other files have a part of is as long as what is around it leaves.
    void leave_out(LeftOut& one, const Stretch* next) {
        uint64_t end = one.cut_after && next ? next->records_before
                                             : plus(one.records_before, one.records);
        if (one.cut_before && previous_)
            one.records_before = previous_->records_after();
        one.records = minus(end, one.records_before);
        take(Stretch(one));
        cpu_.gaps.push_back(
            {one.first_sequence, one.last_sequence, one.records, true, false, true, true});
        sum_.rotated = plus(sum_.rotated, one.records);
    }

    void take(const Stretch& stretch) {
        before(stretch);
        previous_ = stretch;
    }

    /// Accounts for what lies between the stretch and the previous one, or the beginning.
    void before(const Stretch& stretch) {
        const std::optional<Stretch>& previous = previous_;
        uint64_t seen = previous ? previous->records_after() : 0;
        uint64_t absent = minus(stretch.records_before, seen);
        if (stretch.records_before < seen)
            findings_.add(FindingKind::bad_header,
                          segment_name(ring_.ring_id, cpu_.cpu, stretch.first_sequence),
                          base::counted(stretch.records_before, "record is", "records are") +
                              strprintf(" said to lie before it, %" PRIu64 " found", seen));
        uint64_t first = previous ? previous->last_sequence + 1 : 1;
        RowSays row = row_between(previous, stretch);
        if (first == stretch.first_sequence) { // no gap: what is absent stood in a damaged segment,
            uint64_t& count = row == RowSays::rotated ? sum_.rotated : sum_.lost;
            count = plus(count, absent); // or in one that was still open when it was copied
            if (previous && absent != 0 && !previous->damaged && row != RowSays::rotated)
                findings_.add(FindingKind::missing_segment,
                              strprintf("ring %u cpu %u", ring_.ring_id, cpu_.cpu),
                              strprintf("segment %" PRIu64 " is cut short: ",
                                        previous->last_sequence) +
                                  base::counted(absent, "of its records is", "of its records are") +
                                  " not there");
            return;
        }
        bool known = !previous || !previous->damaged;
        switch (row) {
        case RowSays::nothing:
            absences(first, stretch.first_sequence - 1, absent, known);
            break;
        case RowSays::rotated:
            cpu_.gaps.push_back(
                {first, stretch.first_sequence - 1, absent, known, false, true, false});
            sum_.rotated = plus(sum_.rotated, absent);
            sum_.lost_known = sum_.lost_known && known;
            break;
        case RowSays::missing:
            gap(first, stretch.first_sequence - 1, absent, known, false);
            sum_.lost = plus(sum_.lost, absent);
            break;
        }
    }

    /// Accounts for absent segments first..last, which held `records` together (with the rest of
    /// a damaged segment before them, when not `known`).
    void absences(uint64_t first, uint64_t last, uint64_t records, bool known) {
        uint64_t kept = first_kept();
        if (last < kept) {
            gap(first, last, records, known, true);
            sum_.overwritten = plus(sum_.overwritten, records);
            sum_.lost_known = sum_.lost_known && known;
        } else if (first >= kept) {
            gap(first, last, records, known, false);
            sum_.lost = plus(sum_.lost, records);
        } else {
            gap(first, kept - 1, records, false, true);
            gap(kept, last, 0, false, false);
            sum_.overwritten = plus(sum_.overwritten, records);
            sum_.lost_known = false;
        }
    }

    /// Accounts for what lies after the newest segment that is here or left out.
    void tail() {
        const std::optional<Stretch>& last = previous_;
        uint64_t seen = last ? last->records_after() : 0;
        sum_.committed = std::max(seen, cpu_.counters ? cpu_.counters->records : 0);
        uint64_t absent = sum_.committed - seen;
        if (stopped_ && last && newest_ > last->last_sequence) {
            absences(last->last_sequence + 1, newest_, absent, !last->damaged);
        } else if (stopped_ && !last && newest_ > 0) {
            absences(1, newest_, absent, true);
        } else if (stopped_ || !last) {
            sum_.lost = plus(sum_.lost, absent);
        } else {
            sum_.not_copied = absent;
            sum_.lost_known = sum_.lost_known && !last->damaged;
        }
        bool uncounted = last && last->damaged && !cpu_.counters;
        sum_.lost_known = sum_.lost_known && !uncounted;
    }

    void drops() {
        DropCounts seen{};
        for (const SegmentList::Part& part : cpu_.segments.parts())
            for (size_t i = part.begin; i < part.end; i++) {
                if (part.is_run() && part.run.drops_place == 0)
                    break;
                add_drops(i, seen);
            }
        for (const LeftOut& one : cpu_.left_out)
            for (size_t cause = 0; cause < std::min(seen.size(), one.drops.size()); cause++) {
                if (one.drops[cause] == 0)
                    continue;
                seen[cause] = plus(seen[cause], one.drops[cause]);
                sum_.intervals.push_back({static_cast<enum dbk_drop>(cause), one.drops[cause],
                                          one.first_sequence, one.from_mono_ns,
                                          one.last_sequence == newest_
                                              ? UINT64_MAX
                                              : std::max(one.from_mono_ns, one.to_mono_ns)});
            }
        for (size_t cause = 0; cause < seen.size(); cause++) {
            uint64_t counted = cpu_.counters ? cpu_.counters->drops[cause] : 0;
            sum_.drops[cause] = std::max(counted, seen[cause]);
            sum_.drops_unseen[cause] = sum_.drops[cause] - seen[cause];
        }
        // Counters are copied before the segments: what came since fired at least once each.
        uint64_t since = cpu_.counters ? minus(sum_.committed, cpu_.counters->records) : 0;
        sum_.firings =
            std::max(sum_.committed, cpu_.counters ? plus(cpu_.counters->firings, since) : 0);
        sum_.errors = cpu_.counters ? cpu_.counters->errors : 0;
    }

    /// Returns when segment i was no longer the open one; UINT64_MAX: nothing says it.
    uint64_t end_ns(size_t i, const SegmentInfo& segment) const {
        if (i + 1 < cpu_.segments.size())
            return ring_.clock.mono_ns(cpu_.segments[i + 1].base_ticks(ring_.clock));
        if (!cpu_.left_out.empty() && cpu_.left_out.back().last_sequence > segment.sequence)
            return cpu_.left_out.back().from_mono_ns;
        return UINT64_MAX;
    }

    /// Adds what was dropped while segment i was the open one.
    void add_drops(size_t i, DropCounts& seen) {
        SegmentInfo segment = cpu_.segments[i];
        const SegmentDrops* counts = cpu_.drops_of(segment);
        if (!counts)
            return;
        uint64_t begin = ring_.clock.mono_ns(segment.base_ticks(ring_.clock));
        uint64_t last = std::max(begin, ring_.clock.mono_ns(segment.last_ticks));
        uint64_t end = std::max(last, end_ns(i, segment));
        for (size_t cause = 0; cause < seen.size(); cause++) {
            uint64_t count = (*counts)[cause];
            if (count == 0)
                continue;
            seen[cause] = plus(seen[cause], count);
            // Full is a buffer after its last record.
            sum_.intervals.push_back({static_cast<enum dbk_drop>(cause), count, segment.sequence,
                                      cause == DBK_DROP_FILLED ? last : begin, end});
        }
    }

    const RingRecording& ring_;
    CpuInfo& cpu_;
    const std::set<uint32_t>& file_numbers_;
    const bool blocks_lost_;
    Findings& findings_;
    Completeness& sum_;
    bool stopped_ = false;
    uint64_t newest_ = 0;
    std::optional<Stretch> previous_; ///< the newest that was accounted for
};

/// By the index of the CPU, and the segment's sequence number.
using Damages = std::map<std::pair<size_t, uint64_t>, RecordDamage>;

/// A segment to be walked: its CPU's index, and its own there.
struct Place {
    size_t cpu = 0, segment = 0;
};

/// Returns whether what was counted of it before may stay: no clock jumped within it.
bool keeps_count(SegmentInfo& segment, const RingRecording& ring, bool counts_hold) {
    if (!segment.counted)
        return false;
    TickLine line(ring.clock, segment.recorded_ticks, segment.epoch, segment.last_epoch);
    segment.counted = counts_hold && !line.shifts();
    return segment.counted;
}

/// Counts the segment's records.  Returns what ended the walk early.
std::optional<RecordDamage> walk(SegmentInfo& segment, const RingRecording& ring) {
    RecordCursor cursor = records_of(segment, ring);
    RecordView record;
    segment.record_count = 0;
    segment.min_ticks = segment.last_ticks = segment.base_ticks(ring.clock);
    while (cursor.next(record)) {
        segment.record_count++;
        segment.min_ticks = std::min(segment.min_ticks, record.ticks);
        segment.last_ticks = std::max(segment.last_ticks, record.ticks);
    }
    segment.damaged |= cursor.damage().has_value();
    return cursor.damage();
}

/// Orders segments as they lie in their stores.
bool lies_before(const PieceBytes& a, const PieceBytes& b) {
    return std::tuple(a.store(), a.block(), a.offset()) <
           std::tuple(b.store(), b.block(), b.offset());
}

/// Looks whether the runs that an index block describes are as it says.  Those that are not are in memory
/// from then on, to be walked.
void check_runs(RingRecording& ring, const std::vector<Place>& parts) {
    struct Segment {
        SegmentInfo info;
        size_t place;
    };
    std::vector<Segment> segments;
    for (size_t i = 0; i < parts.size(); i++)
        for (const SegmentInfo& info :
             segments_of(ring.cpus[parts[i].cpu].segments.parts()[parts[i].segment].run))
            segments.push_back({info, i});
    std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
        return lies_before(a.info.bytes, b.info.bytes);
    });
    std::set<size_t> wrong;
    for (const Segment& one : segments) {
        SegmentInfo now = one.info;
        if (walk(now, ring) || now.record_count != one.info.record_count ||
            now.min_ticks != one.info.min_ticks || now.last_ticks != one.info.last_ticks)
            wrong.insert(one.place);
    }
    for (size_t place : wrong)
        ring.cpus[parts[place].cpu].segments.unfold(parts[place].segment);
}

/// The index is not believed: of runs either.
void check_runs(RingRecording& ring) {
    std::map<std::pair<SegmentSource*, uint32_t>, std::vector<Place>> groups;
    for (size_t cpu = 0; cpu < ring.cpus.size(); cpu++) {
        const auto& parts = ring.cpus[cpu].segments.parts();
        for (size_t i = 0; i < parts.size(); i++)
            if (parts[i].is_run())
                groups[{parts[i].run.source, parts[i].run.group}].push_back({cpu, i});
    }
    for (const auto& [group, parts] : groups)
        check_runs(ring, parts);
}

/// Reports what ended walks, in the order of CPUs and segments.
void note_damages(const RingRecording& ring, const Damages& damages, Findings& findings) {
    bool explained = !ring.ecbs.empty();
    uint64_t unexplained = 0;
    for (const auto& [place, damage] : damages) {
        if (damage.kind == FindingKind::unreadable)
            continue; // what cannot be read its store reports
        if (!explained && damage.kind == FindingKind::unknown_epid)
            unexplained++;
        else
            findings.add(damage.kind,
                         segment_name(ring.ring_id, ring.cpus[place.first].cpu, place.second) +
                             strprintf(" at %zu", damage.offset_bytes),
                         damage.text);
    }
    if (unexplained > 0)
        findings.add(
            FindingKind::missing_metadata, strprintf("ring %u", ring.ring_id),
            "no ECBs were found, " + base::counted(unexplained, "segment") + " cannot be read");
    if (!ring.has_info && !ring.cpus.empty())
        findings.add(FindingKind::missing_metadata, strprintf("ring %u", ring.ring_id),
                     "the ring's own description was not found");
}

} // namespace

void count_records(RingRecording& ring, bool counts_hold, Findings& findings) {
    if (!counts_hold)
        check_runs(ring);
    std::vector<Place> uncounted;
    for (size_t cpu = 0; cpu < ring.cpus.size(); cpu++)
        for (const SegmentList::Part& part : ring.cpus[cpu].segments.parts())
            for (size_t i = part.begin; i < part.end && !part.is_run(); i++)
                if (!keeps_count(ring.cpus[cpu].segments.in_memory(i), ring, counts_hold))
                    uncounted.push_back({cpu, i});
    auto at = [&ring](const Place& place) -> SegmentInfo& {
        return ring.cpus[place.cpu].segments.in_memory(place.segment);
    };
    std::stable_sort(uncounted.begin(), uncounted.end(), [&at](const Place& a, const Place& b) {
        return lies_before(at(a).bytes, at(b).bytes);
    });
    Damages damages;
    for (const Place& place : uncounted)
        if (std::optional<RecordDamage> damage = walk(at(place), ring))
            damages.emplace(std::pair(place.cpu, at(place).sequence), std::move(*damage));
    note_damages(ring, damages, findings);
}

void account(RingRecording& ring, const std::set<uint32_t>& file_numbers, bool blocks_lost,
             Findings& findings) {
    for (CpuInfo& cpu : ring.cpus)
        Accountant(ring, cpu, file_numbers, blocks_lost, findings).run();
}

} // namespace daybreak::formats
