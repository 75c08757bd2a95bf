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

class WindowAccount {
public:
    WindowAccount(const RingRecording& ring, const CpuInfo& cpu, const TimeWindow& window)
        : ring_(ring), cpu_(cpu), window_(window) {}

    WindowMissing run() {
        for (const formats::SegmentList::Part& part : cpu_.segments.parts()) {
            if (part.is_run())
                before(stretch_of(part.run));
            for (const SegmentInfo& segment : part.segments)
                before(stretch_of(segment));
        }
        after_last();
        for (const formats::DropInterval& interval : cpu_.completeness.intervals)
            if (window_.overlaps(interval.from_mono_ns, interval.to_mono_ns))
                missing_.drops[interval.cause] += interval.count;
        for (uint64_t count : cpu_.completeness.drops_unseen)
            missing_.drops_unseen += count;
        return missing_;
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
        if (!window_.overlaps(previous ? previous->end_ns : 0, stretch.from_ns))
            return;
        uint64_t seen = previous ? previous->records_after : 0;
        uint64_t absent = stretch.records_before - std::min(stretch.records_before, seen);
        uint64_t first = previous ? previous->last_sequence + 1 : 1;
        if (first == stretch.first_sequence) { // they stood in a segment that is damaged or cut short
            missing_.lost += absent;
            return;
        }
        auto gap = gap_from(first);
        for (; gap != cpu_.gaps.end() && gap->last_sequence < stretch.first_sequence; ++gap)
            add(*gap);
    }

    void after_last() {
        if (!window_.overlaps(last_ ? last_->end_ns : 0, UINT64_MAX))
            return;
        auto gap = gap_from(last_ ? last_->last_sequence + 1 : 0);
        for (; gap != cpu_.gaps.end(); ++gap)
            add(*gap);
        missing_.later = cpu_.completeness.not_copied;
    }

    /// Gaps ascend.
    std::vector<formats::Gap>::const_iterator gap_from(uint64_t sequence) const {
        return std::ranges::lower_bound(cpu_.gaps, sequence, {}, &formats::Gap::first_sequence);
    }

    void add(const formats::Gap& gap) {
        uint64_t& count = gap.overwritten ? missing_.overwritten
                          : gap.left_out  ? missing_.left_out
                          : gap.rotated   ? missing_.elsewhere
                                          : missing_.lost;
        count += gap.records;
        if (!gap.overwritten && !gap.rotated)
            missing_.lost_known &= gap.records_known;
    }

    const RingRecording& ring_;
    const CpuInfo& cpu_;
    const TimeWindow& window_;
    std::optional<Stretch> last_;
    WindowMissing missing_;
};

} // namespace

uint64_t WindowMissing::drops_total() const {
    return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
}

bool WindowMissing::has_losses() const {
    return lost != 0 || !lost_known || drops_unseen != 0 || drops_total() != 0;
}

std::string WindowMissing::text(bool is_snapshot) const {
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
    return WindowAccount(ring, cpu, window).run();
}

} // namespace daybreak::analyze
