// SPDX-License-Identifier: Apache-2.0
//
// The summary of a recording, for the end of a trace file.
#include "formats/trace/metadata.hpp"

namespace daybreak::formats {

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
