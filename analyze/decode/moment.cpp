// SPDX-License-Identifier: Apache-2.0
//
// Moment: a point in time as a person says it, and where it lies in a recording.
#include "analyze/decode/moment.hpp"

#include "analyze/decode/time_span.hpp"

#include <algorithm>
#include <ctime>
#include <set>

namespace daybreak::analyze {

namespace {

using base::errorf;
using base::Result;
using formats::Recording;

constexpr int64_t kNsPerSecond = 1'000'000'000;

/// All rings have the machine's clocks; nullptr when no ring is described.
const formats::ClockModel* clock_of(const Recording& recording) {
    for (const formats::RingRecording& ring : recording.rings)
        if (ring.has_info)
            return &ring.clock;
    return nullptr;
}

/// Returns a + b, within what a clock can say.
uint64_t plus(uint64_t a, int64_t b) {
    __int128 sum = static_cast<__int128>(a) + b;
    return static_cast<uint64_t>(std::clamp<__int128>(sum, 0, UINT64_MAX));
}

/// Returns CLOCK_MONOTONIC of what another clock showed, which is `ahead_ns` ahead of it.
uint64_t mono_ns_at(uint64_t other_ns, uint64_t ahead_ns) {
    return other_ns - std::min(other_ns, ahead_ns);
}

/// Returns CLOCK_REALTIME of the local midnight before.
uint64_t midnight_before(uint64_t wall_ns) {
    auto seconds = static_cast<time_t>(wall_ns / kNsPerSecond);
    struct tm local {};
    if (!::localtime_r(&seconds, &local))
        return 0;
    local.tm_hour = local.tm_min = local.tm_sec = 0;
    local.tm_isdst = -1;
    return static_cast<uint64_t>(std::max<time_t>(::mktime(&local), 0)) * kNsPerSecond;
}

Result<uint64_t> trigger_ns(const Recording& recording, const std::string& name) {
    const auto& triggers = recording.machine.triggers;
    std::set<std::string> names;
    for (auto trigger = triggers.rbegin(); trigger != triggers.rend(); ++trigger) {
        if (name.empty() || trigger->name == name)
            return trigger->mono_ns;
        names.insert(trigger->name);
    }
    std::string known;
    for (const std::string& one : names)
        known += (known.empty() ? "" : ", ") + one;
    if (known.empty())
        return errorf(base::ErrorCode::not_found, "the recording has no trigger");
    return errorf(base::ErrorCode::not_found, "the recording has no trigger %s: there are %s",
                  name.c_str(), known.c_str());
}

Result<uint64_t> wall_anchor_ns(const Moment& moment, const Recording& recording) {
    const formats::ClockModel* clock = clock_of(recording);
    uint64_t wall_at_0 = clock ? clock->wall_ns(0) : 0;
    if (wall_at_0 == 0)
        return errorf(base::ErrorCode::not_found, "the recording does not know the date");
    if (moment.anchor == Moment::Anchor::wall)
        return mono_ns_at(plus(0, moment.offset_ns), wall_at_0);
    TimeSpan span = span_of(recording);
    uint64_t begin = clock->wall_ns(span.empty() ? 0 : span.first_mono_ns);
    uint64_t end = clock->wall_ns(span.empty() ? 0 : span.last_mono_ns);
    // The day on which it lies in the recording, or nearest to it: 22:18 of one that begins at
    // 22:18:25 is before it, 00:10 of one from 23:50 to 00:20 is of the next day.
    uint64_t wall = plus(midnight_before(begin), moment.offset_ns);
    uint64_t next_day = plus(wall, 86400 * kNsPerSecond);
    uint64_t early = begin - std::min(begin, wall), late = next_day - std::min(next_day, end);
    return mono_ns_at(late < early ? next_day : wall, wall_at_0);
}

} // namespace

Result<uint64_t> mono_ns_of(const Moment& moment, const Recording& recording,
                            const WantedProbes& probes) {
    switch (moment.anchor) {
    case Moment::Anchor::boot: {
        const formats::ClockModel* clock = clock_of(recording);
        return mono_ns_at(plus(0, moment.offset_ns), clock ? clock->boot_ns(0) : 0);
    }
    case Moment::Anchor::wall:
    case Moment::Anchor::day:
        return wall_anchor_ns(moment, recording);
    case Moment::Anchor::start:
    case Moment::Anchor::end: {
        TimeSpan span = span_of(recording);
        if (span.empty())
            return errorf(base::ErrorCode::not_found, "the recording holds no record");
        bool from_start = moment.anchor == Moment::Anchor::start;
        return plus(from_start ? span.first_mono_ns : span.last_mono_ns, moment.offset_ns);
    }
    case Moment::Anchor::panic: {
        const formats::CrashInfo* end = recording.machine.end();
        if (!end)
            return errorf(base::ErrorCode::not_found,
                          "the recording knows of no panic, oops or orderly end of the machine");
        return plus(end->mono_ns, moment.offset_ns);
    }
    case Moment::Anchor::trigger: {
        DBK_TRY(uint64_t at, trigger_ns(recording, moment.name));
        return plus(at, moment.offset_ns);
    }
    case Moment::Anchor::probe: {
        std::optional<uint64_t> first = first_record_ns(recording, probes);
        if (!first)
            return errorf(base::ErrorCode::not_found,
                          "no record of these probes is here; what the kernel aggregates, and "
                          "clauses that store nothing, have none");
        return plus(*first, moment.offset_ns);
    }
    }
    return uint64_t{0};
}

} // namespace daybreak::analyze
