// SPDX-License-Identifier: Apache-2.0
//
// Info of the files themselves: names, sizes, damage, and who wrote them.
#include "analyze/info_file.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/print/drop_text.hpp"
#include "analyze/print/text.hpp"
#include "base/counted.hpp"
#include "base/elf_notes.hpp"
#include "formats/trace/shared_symbols.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::analyze {

namespace {

using base::counted;

const char* origin_text(formats::TraceOrigin origin) {
    switch (origin) {
    case formats::TraceOrigin::device:
        return "a running kernel";
    case formats::TraceOrigin::snapshot:
        return "a running kernel, which went on recording,";
    case formats::TraceOrigin::bank:
        return "memory of the boot before";
    case formats::TraceOrigin::dump:
        return "a crash dump";
    case formats::TraceOrigin::simulator:
        return "the simulator";
    case formats::TraceOrigin::backfill:
        return "what the kernel kept of its start";
    }
    return "unknown";
}

/// What there was to choose from, when it was more than one.
void print_boots(std::string& out, const formats::Trace& trace) {
    if (trace.boots.size() < 2)
        return;
    for (const formats::TraceBoot& boot : trace.boots)
        appendf(out, "%-10s %s, %s, %s%s%s%s\n", "boots", boot.name.c_str(),
                counted(boot.files, "file").c_str(), bytes_text(boot.file_bytes).c_str(),
                boot.last_wall_ns ? ", newest of " : "",
                boot.last_wall_ns ? wall_text(boot.last_wall_ns).c_str() : "",
                boot.boot_id == trace.recording.boot_id ? ": this one" : "");
}

/// Each file of several.
void print_files(std::string& out, const formats::Trace& trace) {
    if (trace.files.size() < 2)
        return;
    size_t listed = 0;
    for (const formats::TraceFile& file : trace.files) {
        if (listed++ == kListed)
            break;
        const formats::TraceHeader& header = file.header;
        appendf(out, "%-10s %s, %s, %s%s%s%s%s\n", "file", file.path.c_str(),
                bytes_text(file.facts.file_bytes).c_str(),
                counted(file.facts.blocks_good, "block").c_str(),
                file.facts.has_end ? "" : ", no end", header.trigger.empty() ? "" : ", trigger ",
                header.trigger.c_str(), file.facts.blocks_lost ? ", damaged" : "");
    }
    if (trace.files.size() > kListed)
        appendf(out, "%-10s and %zu more\n", "file", trace.files.size() - kListed);
}

/// The window that the file was cut to, and what it has not got because of that.
void print_cut(std::string& out, const formats::Recording& recording) {
    if (!recording.cut_window)
        return;
    TimeSpan span = whole_window(recording, cut_window_of(recording));
    print_window(out, recording, "cut", span.first_mono_ns, span.last_mono_ns);
    LeftOutCounts counts = left_out_of(recording);
    appendf(out, "%-10s %s in %s of %s\n", "left out", counted(counts.records, "record").c_str(),
            counted(counts.segments, "segment").c_str(), counted(counts.cpus, "CPU").c_str());
}

} // namespace

std::string build_text(const formats::TraceHeader& header) {
    std::string text;
    for (const formats::ModuleInfo& module : header.modules)
        if (module.name == formats::kKernelModule &&
            module.build_id.size() <= base::kBuildIdBytesMax)
            for (std::byte byte : module.build_id)
                appendf(text, "%02x", std::to_integer<unsigned>(byte));
    return text;
}

LeftOutCounts left_out_of(const formats::Recording& recording) {
    LeftOutCounts counts;
    for (const formats::RingRecording& ring : recording.rings)
        for (const formats::CpuInfo& cpu : ring.cpus) {
            counts.cpus += !cpu.left_out.empty();
            for (const formats::LeftOut& one : cpu.left_out) {
                counts.records += one.records;
                counts.segments += one.last_sequence - one.first_sequence + 1;
            }
        }
    return counts;
}

std::string bytes_text(uint64_t bytes) {
    if (bytes >= 10u << 20)
        return base::strprintf("%" PRIu64 " MiB", bytes >> 20);
    if (bytes >= 10u << 10)
        return base::strprintf("%" PRIu64 " KiB", bytes >> 10);
    return base::strprintf("%" PRIu64 " bytes", bytes);
}

void print_window(std::string& out, const formats::Recording& recording, const char* label,
                  uint64_t from, uint64_t to) {
    const auto& rings = recording.rings;
    auto boot_ns = [&](uint64_t mono_ns) {
        return rings.empty() ? mono_ns : rings[0].clock.boot_ns(mono_ns);
    };
    appendf(out, "%-10s %s, from %s to %s after boot\n", label,
            seconds_text(to - std::min(from, to)).c_str(), seconds_text(boot_ns(from)).c_str(),
            seconds_text(boot_ns(to)).c_str());
}

void print_file(std::string& out, const formats::Trace& trace) {
    print_boots(out, trace);
    std::string files =
        trace.files.size() > 1 ? base::strprintf("%zu files, ", trace.files.size()) : "";
    bool cut = !trace.file.has_end && trace.files.size() < 2;
    appendf(out, "%-10s %s, %s%s, %s%s\n", "trace", trace.path.c_str(), files.c_str(),
            bytes_text(trace.file.file_bytes).c_str(),
            counted(trace.file.blocks_good, "block").c_str(), cut ? ", cut off" : "");
    print_files(out, trace);
    if (trace.file.blocks_lost || trace.file.bytes_skipped || trace.file.bytes_cut)
        appendf(out, "%-10s %s lost, %s skipped, %s of a last block cut off\n", "damage",
                counted(trace.file.blocks_lost, "block").c_str(),
                counted(trace.file.bytes_skipped, "byte").c_str(),
                counted(trace.file.bytes_cut, "byte").c_str());
    print_cut(out, trace.recording);
    if (!trace.has_header)
        return;
    const std::string& version = trace.header.tool_version;
    appendf(out, "%-10s from %s by %s%s\n", "recorded", origin_text(trace.header.origin),
            version.starts_with("daybreak") ? "" : "daybreak ", version.c_str());
    if (trace.files.size() == 1 && !trace.header.trigger.empty())
        appendf(out, "%-10s %s\n", "trigger", trace.header.trigger.c_str());
    if (trace.recording.window_to_ns != 0) // what a snapshot was made for
        print_window(out, trace.recording, "window", trace.recording.window_from_ns,
                     trace.recording.window_to_ns);
    std::string sources;
    for (const std::string& file : trace.header.d_files)
        sources += (sources.empty() ? "" : ", ") + file;
    if (!sources.empty())
        appendf(out, "%-10s %s\n", "program", sources.c_str());
    if (trace.symbols.empty())
        appendf(out, "%-10s none: kernel addresses stay numbers; report --symbols takes some\n",
                "symbols");
}

} // namespace daybreak::analyze
