// SPDX-License-Identifier: Apache-2.0
//
// What a recorder's files hold, read as `report` reads them, against what was recorded: each record
// once, or in a segment that is reported as lost.
//
// Records of a CPU have the values 0, 1, 2 ... in their first field.
#pragma once

#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/reader.hpp"
#include "recorder/follow/series.hpp"
#include "tests/support/temp_folder.hpp"

#include <fstream>

namespace daybreak::test {

using Files = std::map<std::string, base::Bytes>;
/// By CPU and value of a record: the sequence number of its segment.
using Recorded = std::vector<std::vector<uint64_t>>;
using SegmentOf = std::pair<uint16_t, uint64_t>; // CPU, sequence

struct ReadBack {
    std::map<SegmentOf, int> values;       ///< by CPU and value: how often it is there
    std::map<SegmentOf, int> whole_copies; ///< by segment: how often it was written, as long as anywhere
    std::set<SegmentOf> lost;              ///< segments that are reported as not there
    std::set<SegmentOf> lost_first;        ///< of these, the first of each report
    std::set<SegmentOf> rotated;           ///< segments that are said to be in files that went
    std::vector<std::string> wrong;        ///< what contradicts itself

    /// Returns the lowest value of the CPU that is there.
    uint64_t first(uint16_t cpu) const {
        auto at = values.lower_bound({cpu, 0});
        return at == values.end() || at->first.first != cpu ? UINT64_MAX : at->first.second;
    }
};

inline void read_findings(const formats::Recording& recording, ReadBack& back) {
    for (const formats::Finding& finding : recording.findings.list()) {
        unsigned ring = 0, cpu = 0;
        unsigned long long first = 0, last = 0;
        const char* place = std::strstr(finding.where.c_str(), "ring ");
        bool is_lost = finding.kind == formats::FindingKind::skipped ||
                       finding.kind == formats::FindingKind::missing_segment;
        bool is_cpu = is_lost && place && std::sscanf(place, "ring %u cpu %u", &ring, &cpu) == 2;
        if (is_cpu && std::sscanf(finding.text.c_str(), "segment %llu is cut", &first) == 1)
            last = first;
        else if (is_cpu)
            is_cpu = std::sscanf(finding.text.c_str(), "segments %llu..%llu", &first, &last) == 2;
        if (is_cpu) {
            back.lost_first.insert({static_cast<uint16_t>(cpu), first});
            for (; first <= last; first++)
                back.lost.insert({static_cast<uint16_t>(cpu), first});
        } else if (formats::finding_is_loss(finding.kind))
            back.wrong.push_back(finding.where + ": " + finding.text);
    }
}

/// Counts what a file holds of segments, where a reader takes the best of several copies.
inline void count_copies(base::ByteView file, ReadBack& back, std::map<SegmentOf, size_t>& longest) {
    formats::Findings findings;
    formats::BlockScanner scanner(file, findings);
    for (formats::BlockView block; scanner.next(block);) {
        auto raw = formats::unpack_block(block);
        if (!formats::has_pieces(block.header) || !raw.ok())
            continue;
        for (base::ByteView rest(raw.value()); !rest.empty();) {
            auto piece = formats::parse_piece(rest);
            if (!piece.ok())
                break;
            size_t bytes = piece->committed_bytes;
            SegmentOf key{piece->segment.cpu, piece->segment.sequence};
            if (piece->kind == formats::PieceKind::segment) {
                if (bytes > longest[key])
                    back.whole_copies[key] = 0;
                longest[key] = std::max(longest[key], bytes);
                back.whole_copies[key] += bytes == longest[key];
            }
            rest = rest.subspan(std::min((bytes + 7) & ~size_t{7}, rest.size()));
        }
    }
}

/// Reads one recording of files that lie in one folder.
inline ReadBack read_back(const Files& files) {
    ReadBack back;
    TempFolder folder;
    std::map<SegmentOf, size_t> longest;
    for (const auto& [name, content] : files) {
        std::ofstream out(folder.path / name, std::ios::binary);
        out.write(reinterpret_cast<const char*>(content.data()),
                  static_cast<std::streamsize>(content.size()));
        if (recorder::parse_series_name(name))
            count_copies(content, back, longest);
    }
    std::string path = folder.path;
    auto trace = formats::read_traces(std::span(&path, 1));
    if (!trace.ok()) {
        back.wrong.push_back(trace.error().message());
        return back;
    }
    read_findings(trace->recording, back);
    for (const formats::RingRecording& ring : trace->recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus) {
            for (const formats::Gap& gap : cpu.gaps)
                for (uint64_t at = gap.first_sequence; gap.rotated && at <= gap.last_sequence; at++)
                    back.rotated.insert({cpu.cpu, at});
            for (const formats::SegmentInfo& segment : cpu.segments) {
                formats::RecordCursor cursor = formats::records_of(segment, ring);
                formats::RecordView record;
                while (cursor.next(record))
                    back.values[SegmentOf(cpu.cpu, record.integer(0).value_or(0))]++;
            }
        }
    return back;
}

/// Returns what is wrong with the files; "": nothing.  `oldest_may_go`: files were removed for the
/// budget, so that what is before the oldest record that is there, or between two files that are
/// not neighbours, need not be.
/// `was_killed`: what a file that was given up holds may be there again.
inline std::string compare(const ReadBack& back, const Recorded& recorded,
                           bool oldest_may_go = false, bool was_killed = false) {
    for (const std::string& wrong : back.wrong)
        return wrong;
    size_t known = 0;
    std::set<SegmentOf> incomplete;
    for (uint16_t cpu = 0; cpu < recorded.size(); cpu++)
        for (uint64_t value = 0; value < recorded[cpu].size(); value++) {
            SegmentOf segment{cpu, recorded[cpu][value]};
            auto found = back.values.find({cpu, value});
            int count = found == back.values.end() ? 0 : found->second;
            known += count != 0;
            std::string name = base::strprintf("cpu %u record %llu of segment %llu", cpu,
                                               static_cast<unsigned long long>(value),
                                               static_cast<unsigned long long>(segment.second));
            if (count > 1)
                return name + " is there twice";
            if (count == 1)
                continue;
            incomplete.insert(segment);
            bool went =
                oldest_may_go && (value < back.first(cpu) || back.rotated.contains(segment));
            if (!went && !back.lost.contains(segment))
                return name + " is not there, and not reported";
        }
    if (known != back.values.size())
        return "there are records that were not recorded";
    // One that was open when it was copied may have closed without another record: a recorder that
    // has not seen that reports it, with those after it.
    for (const SegmentOf& segment : back.lost)
        if (!incomplete.contains(segment) && !back.lost_first.contains(segment))
            return base::strprintf("cpu %u segment %llu is reported as lost, and is there",
                                   segment.first, static_cast<unsigned long long>(segment.second));
    for (const auto& [segment, count] : back.whole_copies)
        if (count != 1 && !was_killed)
            return base::strprintf("cpu %u segment %llu was written %d times", segment.first,
                                   static_cast<unsigned long long>(segment.second), count);
    return "";
}

} // namespace daybreak::test
