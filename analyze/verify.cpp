// SPDX-License-Identifier: Apache-2.0
//
// Verification: every record of a recording read, its report as a checksum, and its holes.
#include "analyze/verify.hpp"

#include "analyze/print/drop_text.hpp"
#include "analyze/print/text.hpp"
#include "analyze/report.hpp"
#include "analyze/window_completeness.hpp"
#include "base/counted.hpp"
#include "base/crc32c.hpp"

namespace daybreak::analyze {

namespace {

using formats::CpuInfo;
using formats::RingRecording;

class DigestSink : public Sink {
public:
    void write(std::string_view text) override { add(text); }
    void message(const Message& message) override {
        for (const std::string* part : {&message.tag, &message.text, &message.detail}) {
            add(*part);
            add("\n");
        }
    }
    const OutputDigest& digest() const { return digest_; }

private:
    void add(std::string_view text) {
        digest_.bytes += text.size();
        digest_.crc32c = base::crc32c(std::as_bytes(std::span(text)), digest_.crc32c);
    }

    OutputDigest digest_;
};

/// Returns "between 1.204311 s and 1.310020 s", "before 1.2 s", "after 1.3 s".
std::string place_text(const RingRecording& ring, const Hole& hole) {
    std::string from = seconds_text(ring.clock.boot_ns(hole.from_mono_ns));
    if (hole.to_mono_ns == UINT64_MAX)
        return hole.from_mono_ns == 0 ? "at a time that is not known" : "after " + from;
    std::string to = seconds_text(ring.clock.boot_ns(hole.to_mono_ns));
    return hole.from_mono_ns == 0 ? "before " + to : "between " + from + " and " + to;
}

/// Writes the lines of one CPU.
class HoleLines {
public:
    HoleLines(const RingRecording& ring, const CpuInfo& cpu, bool is_snapshot, Sink& sink)
        : ring_(ring), cpu_(cpu), is_snapshot_(is_snapshot), sink_(sink) {}

    uint64_t run() {
        for_each_hole({}, ring_, cpu_, [this](const Hole& hole) {
            for (const std::string& phrase : hole.records.phrases(is_snapshot_))
                line(phrase + " " + place_text(ring_, hole));
            if (hole.records.later != 0)
                line(base::counted(hole.records.later, "record") + " made after the copy");
        });
        for (const formats::DropInterval& interval : cpu_.completeness.intervals)
            drops(interval.cause, interval.count,
                  std::pair(ring_.clock.boot_ns(interval.from_mono_ns),
                            ring_.clock.boot_ns(interval.to_mono_ns)));
        for (unsigned slot = 0; slot < DBK_DROP_SLOTS; slot++)
            if (uint64_t count = cpu_.completeness.drops_unseen[slot])
                drops(static_cast<enum dbk_drop>(slot), count, std::nullopt);
        return lines_;
    }

private:
    void drops(enum dbk_drop cause, uint64_t count,
               std::optional<std::pair<uint64_t, uint64_t>> boot_interval_ns) {
        Message message = drop_message(cause, count, cpu_.cpu, boot_interval_ns);
        line(message.text + (message.detail.empty() ? "" : " " + message.detail));
    }

    void line(const std::string& text) {
        std::string out;
        appendf(out, "%-10s ring %u, CPU %u: %s\n", "hole", unsigned{ring_.ring_id},
                unsigned{cpu_.cpu}, text.c_str());
        sink_.write(out);
        lines_++;
    }

    const RingRecording& ring_;
    const CpuInfo& cpu_;
    const bool is_snapshot_;
    Sink& sink_;
    uint64_t lines_ = 0;
};

} // namespace

RecordCount count_records(const formats::Recording& recording) {
    RecordCount count;
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus)
            for (const formats::SegmentInfo& segment : cpu.segments) {
                formats::RecordCursor cursor = formats::records_of(segment, ring);
                formats::RecordView record;
                uint64_t found = 0;
                while (cursor.next(record))
                    found++;
                count.segments++;
                count.records += found;
                if (found == segment.record_count)
                    continue;
                count.miscounted++;
                recording.add_miscount(ring, cpu, segment, found);
            }
    return count;
}

OutputDigest digest_of_report(const formats::Recording& recording, const ReportOptions& options) {
    DigestSink sink;
    render_report(recording, options, sink);
    return sink.digest();
}

uint64_t print_holes(const formats::Recording& recording, Sink& sink) {
    uint64_t lines = 0;
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus)
            lines += HoleLines(ring, cpu, recording.window_to_ns != 0, sink).run();
    return lines;
}

} // namespace daybreak::analyze
