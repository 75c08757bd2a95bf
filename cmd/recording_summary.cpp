// SPDX-License-Identifier: Apache-2.0
//
// Lines about the trace file that was written.
#include "cmd/recording_summary.hpp"

#include "cmd/terminal.hpp"

#include <cinttypes>

namespace daybreak::cmd {

using base::strprintf;

void complain_of_rings(const std::vector<recorder::RecordedRing>& rings, bool is_window) {
    for (const recorder::RecordedRing& ring : rings) {
        std::string line = strprintf("%s: %" PRIu64 " records", ring.name.c_str(), ring.sum.present);
        if (ring.sum.overwritten && !is_window)
            line += strprintf(", %" PRIu64 " older ones overwritten", ring.sum.overwritten);
        if (ring.sum.drops_total())
            line += strprintf(", %" PRIu64 " drops", ring.sum.drops_total());
        if (ring.sum.lost)
            line += strprintf(", %" PRIu64 " lost", ring.sum.lost);
        complain(line);
    }
}

void complain_of_file(const std::vector<formats::Finding>& findings, const std::string& path,
                      uint64_t file_bytes, bool interrupted) {
    for (const formats::Finding& finding : findings)
        complain(finding.where + ": " + finding.text);
    complain(strprintf("%s: %" PRIu64 " bytes%s; read it with: daybreak report %s", path.c_str(),
                       file_bytes, interrupted ? ", interrupted" : "", path.c_str()));
}

} // namespace daybreak::cmd
