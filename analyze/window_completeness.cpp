// SPDX-License-Identifier: Apache-2.0
//
// Completeness of a window: what is missing between two times, CPU by CPU.
//
//     segments    3 4 . . 7 8      what 5 and 6 held lies between the last record of 4 and
//                    |---|         the opening of 7
#include "analyze/window_completeness.hpp"

#include "analyze/print/drop_text.hpp"
#include "base/counted.hpp"

#include <algorithm>
#include <cinttypes>
#include <numeric>
#include <optional>
#include <utility>

namespace daybreak::analyze {

namespace {

using base::counted;
using formats::CpuInfo;
using formats::RingRecording;
using formats::SegmentInfo;

class HoleWalk {
public:
    HoleWalk(const RingRecording& ring, const CpuInfo& cpu, const TimeWindow& window,
             const std::function<void(const Hole&)>& use)
        : ring_(ring), cpu_(cpu), window_(window), use_(use) {}

    void run() {
        for (const formats::SegmentList::Part& part : cpu_.segments.parts()) {
            if (part.is_run())
                before(stretch_of(part.run));
            for (const SegmentInfo& segment : part.segments)
                before(stretch_of(segment));
        }
        Hole hole{last_ ? last_->end_ns : 0, UINT64_MAX, {}};
        hole.records.later = cpu_.completeness.not_copied;
        take_gaps(last_ ? last_->last_sequence + 1 : 0, UINT64_MAX, hole);
    }

private:
    /// A segment, or a run of some that have nothing missing between them.
    struct Stretch {
        uint64_t first_sequence, last_sequence;
        uint64_t records_before, records_after;
        uint64_t from_ns, end_ns;
    };

    Stretch stretch_of(const SegmentInfo& segment) const {
        return {segment.sequence,
                segment.sequence,
                segment.records_before,
                segment.records_before + segment.record_count,
                segment.base_mono_ns,
                std::max(segment.base_mono_ns, ring_.clock.mono_ns(segment.last_ticks))};
    }
    Stretch stretch_of(const formats::SegmentRun& run) const {
        return {run.first_sequence,
                run.last_sequence(),
                run.records_before,
                run.records_after(),
                run.opened.mono_ns,
                std::max(run.last_mono_ns, ring_.clock.mono_ns(run.last_ticks))};
    }

    /// Accounts for the records between the stretch and the one before it, or the ring's start.
    void before(const Stretch& stretch) {
        std::optional<Stretch> previous = std::exchange(last_, stretch);
        Hole hole{previous ? previous->end_ns : 0, stretch.from_ns, {}};
        uint64_t first = previous ? previous->last_sequence + 1 : 1;
        if (first != stretch.first_sequence) {
            take_gaps(first, stretch.first_sequence, hole);
            return;
        }
        // They stood in a segment that is damaged or cut short.
        uint64_t seen = previous ? previous->records_after : 0;
        hole.records.lost = stretch.records_before - std::min(stretch.records_before, seen);
        give(hole);
    }

    /// Adds the gaps from one sequence number to before another.  Gaps ascend.
    void take_gaps(uint64_t first, uint64_t end, Hole hole) {
        if (!window_.overlaps(hole.from_mono_ns, hole.to_mono_ns))
            return;
        auto gap = std::ranges::lower_bound(cpu_.gaps, first, {}, &formats::Gap::first_sequence);
        for (; gap != cpu_.gaps.end() && gap->last_sequence < end; ++gap)
            add(*gap, hole.records);
        give(hole);
    }

    static void add(const formats::Gap& gap, MissingRecords& records) {
        uint64_t& count = gap.overwritten ? records.overwritten
                          : gap.left_out  ? records.left_out
                          : gap.rotated   ? records.elsewhere
                                          : records.lost;
        count += gap.records;
        if (!gap.overwritten && !gap.rotated)
            records.lost_known &= gap.records_known;
    }

    void give(const Hole& hole) {
        if (!hole.records.is_none() && window_.overlaps(hole.from_mono_ns, hole.to_mono_ns))
            use_(hole);
    }

    const RingRecording& ring_;
    const CpuInfo& cpu_;
    const TimeWindow& window_;
    const std::function<void(const Hole&)>& use_;
    std::optional<Stretch> last_;
};

} // namespace

void MissingRecords::add(const MissingRecords& more) {
    overwritten += more.overwritten;
    elsewhere += more.elsewhere;
    left_out += more.left_out;
    lost += more.lost;
    lost_known &= more.lost_known;
    later += more.later;
}

void MissingRecords::subtract(const MissingRecords& less) {
    for (auto count : {&MissingRecords::overwritten, &MissingRecords::elsewhere,
                       &MissingRecords::left_out, &MissingRecords::lost, &MissingRecords::later})
        this->*count -= std::min(this->*count, less.*count);
    lost_known |= !less.lost_known;
}

std::vector<std::string> MissingRecords::phrases(bool is_snapshot) const {
    std::vector<std::string> parts;
    if (overwritten)
        parts.push_back(counted(overwritten, "record") + " overwritten");
    if (elsewhere)
        parts.push_back(counted(elsewhere, "record") + (is_snapshot
                                                            ? " before the snapshot's window"
                                                            : " in files that are not here"));
    if (left_out)
        parts.push_back(counted(left_out, "record") + " left out of the file");
    if (lost || !lost_known)
        parts.push_back((lost_known ? "" : "at least ") + counted(lost, "record") + " lost");
    return parts;
}

void for_each_hole(const TimeWindow& window, const RingRecording& ring, const CpuInfo& cpu,
                   const std::function<void(const Hole&)>& use) {
    HoleWalk(ring, cpu, window, use).run();
}

uint64_t WindowMissing::drops_total() const {
    return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
}

bool WindowMissing::has_losses() const {
    return lost != 0 || !lost_known || drops_unseen != 0 || drops_total() != 0;
}

std::string WindowMissing::text(bool is_snapshot) const {
    std::vector<std::string> parts = phrases(is_snapshot);
    for (unsigned slot = 0; slot < DBK_DROP_SLOTS; slot++)
        if (drops[slot])
            parts.push_back(drop_phrase(static_cast<enum dbk_drop>(slot), drops[slot]));
    if (drops_unseen)
        parts.push_back(counted(drops_unseen, "drop") + " at a time that is not known");
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : ", ") + part;
    return text;
}

WindowMissing missing_in(const TimeWindow& window, const RingRecording& ring, const CpuInfo& cpu) {
    WindowMissing missing;
    for_each_hole(window, ring, cpu, [&](const Hole& hole) { missing.add(hole.records); });
    for (const formats::DropInterval& interval : cpu.completeness.intervals)
        if (window.overlaps(interval.from_mono_ns, interval.to_mono_ns))
            missing.drops[interval.cause] += interval.count;
    for (uint64_t count : cpu.completeness.drops_unseen)
        missing.drops_unseen += count;
    return missing;
}

} // namespace daybreak::analyze
