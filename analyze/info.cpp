// SPDX-License-Identifier: Apache-2.0
//
// Info: what a recording is, and how complete.
#include "analyze/info.hpp"

#include "analyze/decode/program.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/info_file.hpp"
#include "analyze/machine_print.hpp"
#include "analyze/print/drop_text.hpp"
#include "analyze/print/text.hpp"
#include "analyze/session/drops.hpp"
#include "analyze/window_completeness.hpp"
#include "base/counted.hpp"
#include "formats/segment/coverage.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::analyze {

namespace {

using base::counted;

std::string uuid_text(const std::array<uint8_t, 16>& uuid) {
    std::string text;
    for (size_t i = 0; i < uuid.size(); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        appendf(text, "%02x", unsigned{uuid[i]});
    }
    return text;
}

const char* policy_text(uint32_t policy) {
    switch (policy) {
    case DBK_POLICY_RING:
        return "ring";
    case DBK_POLICY_FILL:
        return "fill";
    case DBK_POLICY_SWITCH:
        return "switch";
    default:
        return "unknown";
    }
}

/// The window that was asked for, as far as there are records, and the probes.
void print_asked(std::string& out, const formats::Recording& recording,
                 const InfoOptions& options) {
    TimeSpan span = covered_window(recording, options.window);
    if (options.window.is_set() && !span.empty())
        print_window(out, recording, "asked", span.first_mono_ns, span.last_mono_ns);
    else if (options.window.is_set())
        appendf(out, "%-10s a window without records\n", "asked");
    if (!options.cpus.empty())
        appendf(out, "%-10s CPUs %s: nothing is said of others\n", "asked", options.cpus.c_str());
    if (options.probes.is_set())
        appendf(out, "%-10s records of %s; what is missing is known per CPU, of all probes\n",
                "asked", options.probes.description().c_str());
}

void print_host(std::string& out, const formats::Recording& recording,
                const formats::TraceHeader* header) {
    if (header && !header->host().empty())
        appendf(out, "%-10s %s\n", "host", header->hostname.c_str());
    if (const auto& host = recording.host)
        appendf(out, "%-10s Linux %s %s, %u %s%s%s\n", "kernel", host->release.c_str(),
                host->machine.c_str(), host->cpu_count, host->cpu_count == 1 ? "CPU" : "CPUs",
                host->module_version.empty() ? "" : ", module ", host->module_version.c_str());
    else if (header && !header->release.empty())
        appendf(out, "%-10s Linux %s %s\n", "kernel", header->release.c_str(),
                header->machine.c_str());
    std::string build = header ? build_text(*header) : "";
    if (!build.empty())
        appendf(out, "%-10s %s\n", "build id", build.c_str());
    std::string boot = boot_text(recording, header);
    if (!boot.empty())
        appendf(out, "%-10s %s\n", "boot", boot.c_str());
}

void print_time(std::string& out, const formats::RingRecording& ring) {
    TimeSpan span = span_of(ring);
    if (span.empty()) {
        appendf(out, "  %-8s no records\n", "time");
        return;
    }
    appendf(out, "  %-8s %s, from %s to %s after boot\n", "time",
            seconds_text(span.last_mono_ns - span.first_mono_ns).c_str(),
            seconds_text(ring.clock.boot_ns(span.first_mono_ns)).c_str(),
            seconds_text(ring.clock.boot_ns(span.last_mono_ns)).c_str());
    appendf(out, "  %-8s %s\n", "started",
            wall_text(ring.clock.wall_ns(span.first_mono_ns)).c_str());
}

/// 60 s, 41.2 s, 0.25 s.
std::string short_seconds(uint64_t ns) {
    auto seconds = static_cast<double>(ns) / 1e9;
    std::string text = base::strprintf(seconds < 10 ? "%.2f" : "%.1f", seconds);
    while (text.ends_with('0'))
        text.pop_back();
    if (text.ends_with('.'))
        text.pop_back();
    return text + " s";
}

/// Why a CPU's ring does not reach back as far as was wanted.
std::string shortage(const formats::RingRecording& ring, const dbk_meta_cpu& counters) {
    const dbk_meta_ring& facts = ring.info.facts;
    uint64_t bytes = counters.segment_slots * facts.segment_bytes;
    if (bytes + facts.segment_bytes > facts.ringmax_bytes)
        return "its ring is at its maximum of " + bytes_text(bytes);
    if (counters.growths_refused != 0)
        return "there was no memory for more than " + bytes_text(bytes) + ", refused " +
               counted(counters.growths_refused, "time");
    return "its ring had not grown to more than " + bytes_text(bytes);
}

/// Option ringtime: what was wanted, and on which CPUs it was not kept.
void print_ringtime(std::string& out, const formats::RingRecording& ring) {
    uint64_t wanted_ns = ring.info.facts.ringtime_ns;
    bool is_cut = std::ranges::any_of(
        ring.cpus, [](const formats::CpuInfo& cpu) { return !cpu.left_out.empty(); });
    if (!ring.has_info || wanted_ns == 0 || is_cut) // what was kept is not here
        return;
    uint64_t end_ns = span_of(ring).last_mono_ns;
    std::string wanted = short_seconds(wanted_ns);
    bool any = false;
    for (const formats::CpuInfo& cpu : ring.cpus) {
        TimeSpan span = span_of(ring, cpu);
        // What was never overwritten reaches back to the beginning.
        if (span.empty() || cpu.completeness.overwritten == 0 || !cpu.counters ||
            end_ns - span.first_mono_ns >= wanted_ns)
            continue;
        appendf(out, "  %-8s %s wanted, %s kept on CPU %u: %s\n", "ringtime", wanted.c_str(),
                short_seconds(end_ns - span.first_mono_ns).c_str(), unsigned{cpu.cpu},
                shortage(ring, *cpu.counters).c_str());
        any = true;
    }
    if (!any)
        appendf(out, "  %-8s %s wanted and kept\n", "ringtime", wanted.c_str());
}

/// FROM and TO of a CPU's records.
std::vector<std::string> interval_cells(const formats::RingRecording& ring, const TimeSpan& span) {
    if (span.empty())
        return {"-", "-"};
    // At most seven characters in the first month: with counts of seven digits a line has 80.
    auto text = [&](uint64_t mono_ns) {
        double seconds = static_cast<double>(ring.clock.boot_ns(mono_ns)) / 1e9;
        return base::strprintf("%.*f", seconds < 999 ? 3 : seconds < 99999 ? 1 : 0, seconds);
    };
    return {text(span.first_mono_ns), text(span.last_mono_ns)};
}

void print_aggregations(std::string& out, const formats::RingRecording& ring) {
    uint64_t snapshots = 0, entries = 0;
    for (const formats::CpuInfo& cpu : ring.cpus) {
        for (const formats::AggregationSnapshot& snapshot : cpu.aggregations) {
            snapshots++;
            formats::AggregationCursor cursor = formats::entries_of(snapshot, ring);
            formats::AggEntryView entry;
            while (cursor.next(entry))
                entries++;
        }
    }
    if (snapshots)
        appendf(out, "  %-8s %s in %s of aggregations\n", "counted",
                counted(entries, "value").c_str(), counted(snapshots, "snapshot").c_str());
}

/// Adds the rows, whose first are the heads, each column as wide as its widest cell.
void append_table(std::string& out, const std::vector<std::vector<std::string>>& rows) {
    std::vector<size_t> widths(rows.front().size());
    for (const std::vector<std::string>& row : rows)
        for (size_t i = 0; i < row.size(); i++)
            widths[i] = std::max(widths[i], row[i].size());
    for (const std::vector<std::string>& row : rows) {
        out += ' ';
        for (size_t i = 0; i < row.size(); i++)
            appendf(out, " %*s", static_cast<int>(widths[i]), row[i].c_str());
        out += '\n';
    }
}

/// One line per CPU of plain numbers under capital heads, for people and scripts.  FROM and TO are
/// seconds after boot of the first and the last record that is here.  The counts are of one moment,
/// when the last record was copied: what came later is the verdict's.
void print_cpus(std::string& out, const formats::RingRecording& ring) {
    std::vector<std::vector<std::string>> rows = {{"CPU", "RECORDS", "HERE", "OVERWRITTEN", "LOST",
                                                   "DROPS", "FAULTS", "FIRINGS", "SEGS", "FROM",
                                                   "TO"}};
    for (const formats::CpuInfo& cpu : ring.cpus) {
        const formats::Completeness& facts = cpu.completeness;
        std::vector<std::string>& row = rows.emplace_back();
        CopiedCounts counts = copied_counts(facts);
        for (uint64_t number :
             {uint64_t{cpu.cpu}, counts.records, facts.present, facts.overwritten, facts.lost,
              facts.drops_total(), facts.errors, counts.firings, facts.segments_present})
            row.push_back(std::to_string(number));
        for (std::string& cell : interval_cells(ring, span_of(ring, cpu)))
            row.push_back(std::move(cell));
    }
    append_table(out, rows);
}

/// The same of a window, with what is missing in it, or of some probes.
void print_cpus(std::string& out, const formats::RingRecording& ring, const InfoOptions& options) {
    std::vector<std::vector<std::string>> rows = {
        {"CPU", "HERE", "OVERWRITTEN", "LOST", "DROPS", "FROM", "TO"}};
    for (const formats::CpuInfo& cpu : ring.cpus) {
        std::vector<std::string>& row = rows.emplace_back();
        WindowRecords found = records_in(options.window, ring, cpu, options.probes);
        WindowMissing missing = missing_in(options.window, ring, cpu);
        uint64_t drops =
            options.window.is_set() ? missing.drops_total() : cpu.completeness.drops_total();
        for (uint64_t number :
             {uint64_t{cpu.cpu}, found.records, missing.overwritten, missing.lost, drops})
            row.push_back(std::to_string(number));
        for (std::string& cell : interval_cells(ring, found.span))
            row.push_back(std::move(cell));
    }
    append_table(out, rows);
}

/// Where a CPU's records have a hole: since when nothing more is absent.
void print_coverage(std::string& out, const formats::RingRecording& ring) {
    for (const formats::CpuInfo& cpu : ring.cpus) {
        formats::CpuCoverage covered = formats::coverage_of(ring, cpu);
        if (covered.has_older)
            appendf(out, "  %-8s CPU %u: without a hole from %s on, %s\n", "covered",
                    unsigned{cpu.cpu},
                    seconds_text(ring.clock.boot_ns(covered.from_mono_ns)).c_str(),
                    seconds_text(covered.to_mono_ns - covered.from_mono_ns).c_str());
    }
}

void print_drops(std::string& out, const formats::RingRecording& ring, const TimeWindow& window) {
    size_t listed = 0, left = 0;
    for (const formats::CpuInfo& cpu : ring.cpus)
        for (const Drop& drop : drops_of(ring, cpu)) {
            if (auto interval = drop.interval_mono_ns;
                interval && !window.overlaps(interval->first, interval->second))
                continue;
            if (listed++ >= kListed) {
                left++;
                continue;
            }
            appendf(out, "  drops    CPU %u: %s\n", unsigned{drop.cpu},
                    message_of(drop).with_detail().c_str());
        }
    if (left)
        appendf(out, "  drops    and %s\n", counted(left, "more interval").c_str());
}

/// What a ring that grows has come to.
std::string growth_text(const formats::RingRecording& ring) {
    if (ring.info.facts.ringtime_ns == 0)
        return "";
    uint64_t slots = 0;
    for (const formats::CpuInfo& cpu : ring.cpus)
        slots = std::max(slots, cpu.counters ? cpu.counters->segment_slots : 0);
    return base::strprintf(" at first, %" PRIu64 " at most now", slots);
}

/// Sizes that memory was short for, in the words of the kernel's log.
void print_lowered(std::string& out, const formats::RingRecording& ring) {
#define DAYBREAK_TEXT(name, value, option, text) text,
    static constexpr const char* kNames[] = {DBK_SIZES(DAYBREAK_TEXT)};
#undef DAYBREAK_TEXT
    for (size_t which = 0; which < std::size(kNames); which++)
        if (uint64_t bytes = ring.info.facts.lowered_bytes[which])
            appendf(out, "  %-8s %s lowered to %s: memory was short\n", "memory", kNames[which],
                    bytes_text(bytes).c_str());
}

/// How many of a ring's probes were asked for.
std::string asked_text(const formats::RingRecording& ring, const InfoOptions& options) {
    if (!options.probes.is_set())
        return "";
    auto asked = std::ranges::count_if(ring.probes, [&](const auto& probe) {
        return options.probes.has(ring.ring_id, probe.first);
    });
    return base::strprintf("; asked: %zu", static_cast<size_t>(asked));
}

void print_ring(std::string& out, const formats::Recording& recording,
                const formats::RingRecording& ring, const InfoOptions& options) {
    appendf(out, "ring %u", unsigned{ring.ring_id});
    if (!ring.has_info) {
        out += ": its description is missing\n";
    } else {
        const dbk_meta_ring& facts = ring.info.facts;
        appendf(out, " \"%s\": %s, policy %s, %s of %s per CPU%s, aggregate=%s\n",
                ring.info.name.c_str(), facts.anonymous ? "embedded" : "enabled while running",
                policy_text(facts.policy), counted(facts.segments_per_cpu, "segment").c_str(),
                bytes_text(facts.segment_bytes).c_str(), growth_text(ring).c_str(),
                facts.aggregate == DBK_AGGREGATE_ENGINE ? "engine" : "record");
    }
    RingProgram program(ring);
    for (const auto& [index, image] : program.images())
        if (image.program.target && !image.program.target->main_file.empty())
            appendf(out, "  %-8s %s\n", "program", image.program.target->main_file.c_str());
    for (const std::string& problem : program.problems())
        appendf(out, "  %-8s %s\n", "problem", problem.c_str());
    appendf(out, "  %-8s %zu, with %s%s\n", "probes", ring.probes.size(),
            counted(ring.ecbs.all().size(), "ECB").c_str(), asked_text(ring, options).c_str());
    for (const std::string& description : unmatched_of(recording, ring))
        appendf(out, "  %-8s %s matches no probe\n", "nothing", description.c_str());
    print_time(out, ring);
    print_ringtime(out, ring);
    print_lowered(out, ring);
    print_aggregations(out, ring);
    if (options.is_part())
        print_cpus(out, ring, options);
    else
        print_cpus(out, ring);
    if (!options.window.is_set())
        print_coverage(out, ring);
    print_drops(out, ring, options.window);
}

void print_findings(std::string& out, const formats::Findings& findings) {
    for (size_t i = 0; i < std::min(findings.list().size(), kListed); i++) {
        const formats::Finding& finding = findings.list()[i];
        appendf(out, "found      %s: %s%s\n", finding.where.c_str(), finding.text.c_str(),
                formats::finding_is_loss(finding.kind) ? "" : " (no loss)");
    }
    if (findings.count() > kListed)
        appendf(out, "found      and %" PRIu64 " more\n", findings.count() - kListed);
}

/// A line for each; of many the first ones.
void print_namespaces(std::string& out, const std::map<uint32_t, uint64_t>& images,
                      const char* kind, const char* what) {
    size_t left = images.size();
    for (const auto& [inode, count] : images) {
        if (images.size() - left == kListed) {
            appendf(out, "%-10s and more in %s\n", "",
                    base::counted(left, std::string("other ") + kind + " namespace").c_str());
            return;
        }
        appendf(out, "%-10s %s in %s namespace %u%s\n", "", base::counted(count, "image").c_str(),
                kind, inode, what);
        left--;
    }
}

void print_maps(std::string& out, const formats::ProcessMaps& maps) {
    if (maps.empty())
        return;
    const formats::ProcessMaps::Counts& counts = maps.counts();
    std::string lost;
    if (counts.overwritten != 0)
        lost += "; " + base::counted(counts.overwritten, "older entry", "older entries") +
                " overwritten";
    if (counts.lost != 0)
        lost += "; no room for " + base::counted(counts.lost, "entry", "entries");
    appendf(out, "%-10s %s of processes, %s of %s%s\n", "maps",
            base::counted(counts.images, "image").c_str(),
            base::counted(counts.mappings, "mapping").c_str(),
            base::counted(counts.files, "file").c_str(), lost.c_str());
    print_namespaces(out, maps.other_namespaces().mount, "mount", ", whose paths are its own");
    print_namespaces(out, maps.other_namespaces().pid, "pid", "");
}

CompletenessNote print_recording(std::string& out, const formats::Recording& recording,
                                 const formats::TraceHeader* header, const InfoOptions& options) {
    print_host(out, recording, header);
    print_asked(out, recording, options);
    print_machine(out, recording, options.log_lines);
    print_maps(out, recording.maps);
    for (const formats::RingRecording& ring : recording.rings)
        print_ring(out, recording, ring, options);
    print_findings(out, recording.all_findings());
    return completeness_of(recording, options.window);
}

} // namespace

std::string boot_text(const formats::Recording& recording, const formats::TraceHeader* header) {
    if (recording.host)
        return uuid_text(recording.host->boot_uuid);
    if (recording.boot_id)
        return formats::boot_name(recording.boot_id);
    bool is_known = header && header->boot_uuid != std::array<uint8_t, 16>{};
    return is_known ? uuid_text(header->boot_uuid) : "";
}

CompletenessNote print_info(const formats::Trace& trace, Sink& sink, const InfoOptions& options) {
    std::string out;
    print_file(out, trace);
    CompletenessNote note =
        print_recording(out, trace.recording, trace.has_header ? &trace.header : nullptr, options);
    out += note.verdict() + "\n";
    sink.write(out);
    return note;
}

CompletenessNote print_info(const formats::Recording& recording, Sink& sink,
                            const InfoOptions& options) {
    std::string out;
    CompletenessNote note = print_recording(out, recording, nullptr, options);
    out += note.verdict() + "\n";
    sink.write(out);
    return note;
}

} // namespace daybreak::analyze
