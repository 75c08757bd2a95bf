// SPDX-License-Identifier: Apache-2.0
//
// Info as one object of JSON.
#include "analyze/info.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/info_file.hpp"
#include "analyze/machine_print.hpp"
#include "analyze/window_completeness.hpp"
#include "base/json.hpp"
#include "formats/segment/coverage.hpp"

namespace daybreak::analyze {

namespace {

/// Nothing when the span is empty.
void put_span(base::JsonObject& object, const formats::ClockModel& clock, const TimeSpan& span) {
    if (span.empty())
        return;
    object.put("from_boot_ns", clock.boot_ns(span.first_mono_ns));
    object.put("to_boot_ns", clock.boot_ns(span.last_mono_ns));
}

void put_window(std::string& out, const formats::Recording& recording, const TimeSpan& window) {
    base::JsonObject object(out);
    if (!recording.rings.empty())
        put_span(object, recording.rings[0].clock, window);
    object.end();
}

void put_cpu(std::string& out, const formats::RingRecording& ring, const formats::CpuInfo& cpu) {
    const formats::Completeness& facts = cpu.completeness;
    CopiedCounts counts = copied_counts(facts);
    base::JsonObject object(out);
    object.put("cpu", cpu.cpu);
    object.put("records", counts.records);
    object.put("here", facts.present);
    object.put("overwritten", facts.overwritten);
    object.put("lost", facts.lost);
    object.put("drops", facts.drops_total());
    object.put("faults", facts.errors);
    object.put("firings", counts.firings);
    object.put("segments", facts.segments_present);
    put_span(object, ring.clock, span_of(ring, cpu));
    object.end();
}

/// What is in a window, or of some probes, and what is missing in it.
void put_cpu(std::string& out, const formats::RingRecording& ring, const formats::CpuInfo& cpu,
             const InfoOptions& options) {
    const TimeWindow& window = options.window;
    WindowMissing missing = missing_in(window, ring, cpu);
    base::JsonObject object(out);
    object.put("cpu", cpu.cpu);
    WindowRecords found = records_in(window, ring, cpu, options.probes);
    object.put("here", found.records);
    object.put("overwritten", missing.overwritten);
    object.put("lost", missing.lost);
    object.put("drops", window.is_set() ? missing.drops_total() : cpu.completeness.drops_total());
    put_span(object, ring.clock, found.span);
    object.end();
}

void put_ring(std::string& out, const formats::RingRecording& ring, const InfoOptions& options) {
    base::JsonObject object(out);
    object.put("id", ring.ring_id);
    object.put("name", ring.info.name);
    object.put("probes", ring.probes.size());
    base::JsonArray cpus(object.key("cpus"));
    for (const formats::CpuInfo& cpu : ring.cpus)
        if (options.is_part())
            put_cpu(cpus.next(), ring, cpu, options);
        else
            put_cpu(cpus.next(), ring, cpu);
    cpus.end();
    object.end();
}

void put_namespaces(std::string& out, const std::map<uint32_t, uint64_t>& images) {
    base::JsonArray array(out);
    for (const auto& [inode, count] : images) {
        base::JsonObject object(array.next());
        object.put("inode", uint64_t{inode});
        object.put("images", count);
        object.end();
    }
    array.end();
}

void put_maps(std::string& out, const formats::ProcessMaps& maps) {
    const formats::ProcessMaps::Counts& counts = maps.counts();
    base::JsonObject object(out);
    object.put("images", counts.images);
    object.put("mappings", counts.mappings);
    object.put("unmapped", counts.unmapped);
    object.put("files", counts.files);
    object.put("overwritten", counts.overwritten);
    object.put("lost", counts.lost);
    put_namespaces(object.key("mount_namespaces"), maps.other_namespaces().mount);
    put_namespaces(object.key("pid_namespaces"), maps.other_namespaces().pid);
    object.end();
}

void put_finding(std::string& out, const formats::Finding& finding) {
    base::JsonObject object(out);
    object.put("where", finding.where);
    object.put("text", finding.text);
    object.put("loss", formats::finding_is_loss(finding.kind));
    object.end();
}

} // namespace

CompletenessNote print_info_json(const formats::Trace& trace, Sink& sink,
                                 const InfoOptions& options) {
    const formats::Recording& recording = trace.recording;
    CompletenessNote note = completeness_of(recording, options.window);
    std::string out;
    base::JsonObject object(out);
    object.put("trace", trace.path);
    object.put("files", trace.files.size());
    object.put("bytes", trace.file.file_bytes);
    object.put("boot", boot_text(recording, &trace.header));
    object.put("host", trace.header.host());
    object.put("build_id", build_text(trace.header));
    object.put("release", recording.host ? recording.host->release : trace.header.release);
    object.put("symbols", trace.symbols.symbols().size());
    object.put("complete", note.complete);
    object.put("losses", note.losses);
    object.put("verdict", note.verdict());
    base::JsonArray unmatched(object.key("unmatched"));
    for (const std::string& description : note.unmatched)
        base::append_json_string(unmatched.next(), description);
    unmatched.end();
    object.put("end", note.end);
    object.put("records", note.records_present);
    if (options.window.is_set())
        put_window(object.key("window"), recording, covered_window(recording, options.window));
    if (options.probes.is_set())
        object.put("probe", options.probes.description());
    if (!options.cpus.empty())
        object.put("cpu", options.cpus);
    if (recording.cut_window) {
        put_window(object.key("cut"), recording,
                   whole_window(recording, cut_window_of(recording)));
        object.put("left_out", left_out_of(recording).records);
    }
    if (!recording.maps.empty())
        put_maps(object.key("maps"), recording.maps);
    base::JsonArray rings(object.key("rings"));
    for (const formats::RingRecording& ring : recording.rings)
        put_ring(rings.next(), ring, options);
    rings.end();
    base::JsonArray findings(object.key("findings"));
    const formats::Findings found = recording.all_findings();
    for (const formats::Finding& finding : found.list())
        put_finding(findings.next(), finding);
    findings.end();
    object.end();
    sink.write(out + "\n");
    return note;
}

} // namespace daybreak::analyze
