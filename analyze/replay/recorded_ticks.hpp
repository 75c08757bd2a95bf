// SPDX-License-Identifier: Apache-2.0
//
// RecordedTicks: when the ticks of a recording were recorded whose clauses did not always record.
//
// Such a timer fires in a replay when it is due, unless a record does it.
#pragma once

#include "analyze/replay/firing_reader.hpp"

namespace daybreak::analyze {

class RecordedTicks {
public:
    /// Looks through the recording when it has such ticks.
    RecordedTicks(const formats::Recording& recording, size_t ring_index, const CaptureTable& table,
                  const ReplayedProbesById& probes);

    /// Whether a tick-N was recorded now and then only: the timer fires in between.
    static bool is_filled_in(const CaptureTable& table, uint32_t id, const sim::SimProbe& probe);
    /// Whether a timer that is due then was recorded, by half its interval: its record fires it,
    /// and it is due an interval later.
    bool take_recorded(uint64_t due_ns);

private:
    struct Ticks {
        sim::SimProbe* probe = nullptr;
        std::vector<uint64_t> times_ns; // ascending
    };
    std::map<uint32_t, Ticks> ticks_; // by recorded id
};

} // namespace daybreak::analyze
