// SPDX-License-Identifier: Apache-2.0
//
// Lines about the trace file that was written.
#include "cmd/recording_summary.hpp"

#include "base/counted.hpp"
#include "cmd/terminal.hpp"

#include <cinttypes>

namespace daybreak::cmd {

using base::strprintf;

void complain_of_rings(const std::vector<recorder::RecordedRing>& rings, bool is_window) {
    for (const recorder::RecordedRing& ring : rings) {
        std::string line = ring.name + ": " + base::counted(ring.sum.present, "record");
        if (ring.sum.overwritten && !is_window)
            line += ", " + base::counted(ring.sum.overwritten, "older one") + " overwritten";
        if (ring.sum.drops_total())
            line += ", " + base::counted(ring.sum.drops_total(), "drop");
        if (ring.sum.lost)
            line += strprintf(", %" PRIu64 " lost", ring.sum.lost);
        complain(line);
    }
}

void complain_of_symbols(const recorder::RecordSummary& summary, const std::string& path) {
    if (!summary.symbols_path.empty())
        complain(path + ": the kernel's symbols are in " + summary.symbols_path +
                 ", which belongs beside it; daybreak pack -o makes a file that has them");
}

void complain_of_file(const std::vector<formats::Finding>& findings, const std::string& path,
                      uint64_t file_bytes, bool interrupted) {
    for (const formats::Finding& finding : findings)
        complain(finding.where + ": " + finding.text);
    complain(strprintf("%s: %" PRIu64 " bytes%s; read it with: daybreak report %s", path.c_str(),
                       file_bytes, interrupted ? ", interrupted" : "", path.c_str()));
}

} // namespace daybreak::cmd
