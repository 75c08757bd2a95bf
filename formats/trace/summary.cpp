// SPDX-License-Identifier: Apache-2.0
//
// The summary of a recording, for the end of a trace file; why a recorder skipped segments.
#include "formats/trace/metadata.hpp"

#include <iterator>

namespace daybreak::formats {

namespace {

struct SkipFacts {
    const char* name;
    const char* text;
};

constexpr SkipFacts kSkips[] = {
#define DBK_SKIP_FACTS(name, text) {#name, text},
    DBK_SKIP_CAUSES(DBK_SKIP_FACTS)
#undef DBK_SKIP_FACTS
};

const SkipFacts& facts_of(SkipCause cause) {
    DBK_ASSERT(static_cast<size_t>(cause) < std::size(kSkips));
    return kSkips[static_cast<size_t>(cause)];
}

} // namespace

const char* skip_name(SkipCause cause) {
    return facts_of(cause).name;
}

const char* skip_text(SkipCause cause) {
    return facts_of(cause).text;
}

TraceSummary summary_of(const Recording& recording) {
    TraceSummary summary;
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus) {
            CpuSummary one{ring.ring_id, cpu.cpu, cpu.completeness};
            one.completeness.intervals.clear();
            summary.cpus.push_back(std::move(one));
        }
    summary.findings = recording.findings.list();
    return summary;
}

} // namespace daybreak::formats
