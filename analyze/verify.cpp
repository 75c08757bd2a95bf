// SPDX-License-Identifier: Apache-2.0
//
// Verification: every record of a recording read, its report as a checksum, and its holes.
#include "analyze/verify.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/print/drop_text.hpp"
#include "analyze/print/text.hpp"
#include "analyze/window_completeness.hpp"
#include "base/counted.hpp"
#include "base/crc32c.hpp"

#include <algorithm>
#include <utility>

namespace daybreak::analyze {

namespace {

using base::counted;
using formats::CpuInfo;
using formats::RingRecording;

constexpr const char* kNoTime = "at a time that is not known";

void add(OutputDigest& digest, std::string_view text) {
    digest.bytes += text.size();
    digest.crc32c = base::crc32c(std::as_bytes(std::span(text)), digest.crc32c);
}

/// Returns "between 1.204311 s and 1.310020 s", "before 1.2 s", "after 1.3 s".
std::string place_text(const RingRecording& ring, uint64_t from_mono_ns, uint64_t to_mono_ns) {
    const bool is_open = to_mono_ns == UINT64_MAX;
    const uint64_t to_boot_ns = is_open ? UINT64_MAX : ring.clock.boot_ns(to_mono_ns);
    if (from_mono_ns == 0)
        return is_open ? kNoTime : "before " + seconds_text(to_boot_ns);
    return interval_text(ring.clock.boot_ns(from_mono_ns), to_boot_ns);
}

/// What is said to be missing of the CPU in all.
MissingRecords missing_of(const CpuInfo& cpu) {
    MissingRecords all;
    const formats::Completeness& facts = cpu.completeness;
    all.overwritten = facts.overwritten;
    all.elsewhere = facts.rotated;
    all.lost = facts.lost;
    all.lost_known = facts.lost_known;
    all.later = facts.not_copied;
    return all;
}

/// Writes the lines of one CPU.
class HoleLines {
public:
    HoleLines(const formats::Recording& recording, const RingRecording& ring, const CpuInfo& cpu,
              Sink& sink)
        : ring_(ring), cpu_(cpu), is_snapshot_(recording.window_to_ns != 0),
          window_(recording.cut_window ? cut_window_of(recording) : TimeWindow{}), sink_(sink) {
        if (recording.rings.size() > 1)
            appendf(where_, "ring %u, ", unsigned{ring.ring_id});
        appendf(where_, "CPU %u", unsigned{cpu.cpu});
    }

    uint64_t run(const RecordCount& count) {
        MissingRecords rest = missing_of(cpu_);
        for_each_hole({}, ring_, cpu_, [&](const Hole& hole) {
            records(hole.records, place_text(ring_, hole.from_mono_ns, hole.to_mono_ns));
            MissingRecords placed = hole.records;
            placed.elsewhere += placed.left_out; // the totals do not tell them apart
            rest.subtract(placed);
        });
        records(rest, kNoTime);
        for (const RecordCount::Unreadable& one : count.unreadable)
            if (one.ring_id == ring_.ring_id && one.cpu == cpu_.cpu)
                line(counted(one.records, "record") + " in " + counted(one.segments, "segment") +
                     " cannot be read, " + place_text(ring_, one.from_mono_ns, one.to_mono_ns));
        for (const formats::DropInterval& interval : cpu_.completeness.intervals)
            line(drop_phrase(interval.cause, interval.count) + " " +
                 place_text(ring_, interval.from_mono_ns, interval.to_mono_ns) +
                 (window_.overlaps(interval.from_mono_ns, interval.to_mono_ns)
                      ? ""
                      : " (outside the window)"));
        for (unsigned slot = 0; slot < DBK_DROP_SLOTS; slot++)
            if (uint64_t unseen = cpu_.completeness.drops_unseen[slot])
                line(drop_phrase(static_cast<enum dbk_drop>(slot), unseen) + " " + kNoTime);
        return lines_;
    }

private:
    void records(const MissingRecords& missing, const std::string& place) {
        MissingRecords losses, others = missing;
        std::swap(losses.lost, others.lost);
        std::swap(losses.lost_known, others.lost_known);
        for (const std::string& phrase : others.phrases(is_snapshot_))
            line(phrase + " " + place + " (no loss)");
        for (const std::string& phrase : losses.phrases(is_snapshot_))
            line(phrase + " " + place);
        if (missing.later != 0)
            line(counted(missing.later, "record") + " made after the copy (no loss)");
    }

    void line(const std::string& text) {
        std::string out;
        appendf(out, "%-10s %s: %s\n", "hole", where_.c_str(), text.c_str());
        sink_.write(out);
        lines_++;
    }

    const RingRecording& ring_;
    const CpuInfo& cpu_;
    const bool is_snapshot_;
    const TimeWindow window_;
    Sink& sink_;
    std::string where_;
    uint64_t lines_ = 0;
};

/// Adds a segment whose block cannot be read.
void add_unreadable(RecordCount& count, const RingRecording& ring, const CpuInfo& cpu,
                    const formats::SegmentInfo& segment, bool follows) {
    uint64_t last_ns = std::max(segment.base_mono_ns, ring.clock.mono_ns(segment.last_ticks));
    if (!follows)
        count.unreadable.push_back({ring.ring_id, cpu.cpu, 0, 0, segment.base_mono_ns, last_ns});
    RecordCount::Unreadable& one = count.unreadable.back();
    one.segments++;
    one.records += segment.record_count;
    one.to_mono_ns = last_ns;
}

/// Returns how many of the ECBs that were met the index does not have for the segment's block.
uint64_t count_unlisted(const RingRecording& ring, const formats::SegmentInfo& segment,
                        const std::vector<bool>& is_met) {
    uint64_t others = 0;
    for (size_t i = 0; i < is_met.size(); i++)
        if (uint32_t epid = ring.ecbs.all()[i].epid; is_met[i])
            others += !formats::may_have(segment, std::span(&epid, 1));
    return others;
}

/// Reads the segments of one CPU.
void count_cpu(RecordCount& count, const formats::Recording& recording, const RingRecording& ring,
               const CpuInfo& cpu, const std::function<bool(uint64_t)>& interrupted) {
    bool follows = false; // one whose block cannot be read
    for (const formats::SegmentInfo& segment : cpu.segments) {
        if (interrupted && interrupted(count.records))
            return;
        bool has_records = segment.bytes.size() > DBK_SEGMENT_DATA_OFFSET;
        if (has_records && !segment.bytes.load().ok()) {
            add_unreadable(count, ring, cpu, segment, std::exchange(follows, true));
            continue;
        }
        follows = false;
        formats::RecordCursor cursor = formats::records_of(segment, ring);
        formats::RecordView record;
        uint64_t found = 0;
        std::vector<bool> is_met(ring.ecbs.all().size());
        for (; cursor.next(record); found++)
            is_met[static_cast<size_t>(record.ecb - ring.ecbs.all().data())] = true;
        count.segments++;
        count.records += found;
        uint64_t others = count_unlisted(ring, segment, is_met);
        if (found == segment.record_count && others == 0)
            continue;
        count.miscounted++;
        if (found != segment.record_count)
            recording.add_miscount(ring, cpu, segment, found);
        if (others != 0)
            recording.add_bad_record(ring, cpu, segment,
                                     counted(others, "EPID") + " that its index does not have");
    }
}

} // namespace

RecordCount count_records(const formats::Recording& recording,
                          const std::function<bool(uint64_t)>& interrupted) {
    RecordCount count;
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus)
            count_cpu(count, recording, ring, cpu, interrupted);
    return count;
}

void DigestSink::write(std::string_view text) {
    add(all_, text);
    add(text_, text);
}

void DigestSink::message(const Message& message) {
    for (const std::string* part : {&message.tag, &message.text, &message.detail}) {
        add(all_, *part);
        add(all_, "\n");
    }
}

uint64_t print_holes(const formats::Recording& recording, const RecordCount& count, Sink& sink) {
    uint64_t lines = 0;
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus)
            lines += HoleLines(recording, ring, cpu, sink).run(count);
    return lines;
}

} // namespace daybreak::analyze
