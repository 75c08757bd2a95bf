// SPDX-License-Identifier: Apache-2.0
//
// Drops: what was not stored, as a session reports it between the records.
//
// A recording says in which segment data was dropped, so a drop has a place among the records. Of
// a ring that is still written only the counters are known: what they have gained comes after the
// records of that look.
#pragma once

#include "analyze/print/sink.hpp"
#include "formats/dof/reading_rates.hpp"
#include "formats/segment/recording.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace daybreak::analyze {

/// Drops of one cause on one CPU.
struct Drop {
    const formats::RingRecording* ring = nullptr;
    uint16_t cpu = 0;
    enum dbk_drop cause = DBK_DROP_PRINCIPAL;
    uint64_t count = 0;
    /// CLOCK_MONOTONIC; it stands where the records have passed its end, which is UINT64_MAX where
    /// it is not known.  Empty: after all records.
    std::optional<std::pair<uint64_t, uint64_t>> interval_mono_ns;
    uint32_t last_probe_id = 0; ///< whose firing the last one was; 0: not known
};

/// Returns the message, with the interval in boot time and the probe of the last one when they are
/// known.
Message message_of(const Drop& drop);

/// Returns the drops of a CPU of a recording, those in no segment that is here last.  They refer to
/// the ring.
std::vector<Drop> drops_of(const formats::RingRecording& ring, const formats::CpuInfo& cpu);

/// Returns the drops of a recording, those in no segment that is here last.  They refer to the
/// recording.
std::vector<Drop> drops_of(const formats::Recording& recording);

/// The counters of a ring that is still written, as far as they were reported.
class DropCounters {
public:
    /// Returns what the counters have gained, of the kinds of drops that this look shows: drops of
    /// records with records, those of aggregations with aggregations, all others with the status.
    std::vector<Drop> take(const formats::Recording& recording, const formats::Readings& looked_at);

private:
    struct Counter {
        uint16_t ring_id, cpu;
        unsigned slot;
        auto operator<=>(const Counter&) const = default;
    };
    std::map<Counter, uint64_t> reported_;
};

} // namespace daybreak::analyze
