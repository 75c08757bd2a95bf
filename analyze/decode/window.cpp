// SPDX-License-Identifier: Apache-2.0
//
// Windows: whether a time of a recording is one that was asked for.
#include "analyze/decode/window.hpp"

namespace daybreak::analyze {

/// Returns a time as the window counts it.
uint64_t WindowTest::place(const formats::ClockModel& clock, uint64_t mono_ns) const {
    if (window_.is_monotonic)
        return mono_ns;
    uint64_t boot_ns = clock.boot_ns(mono_ns);
    if (!window_.from_first_record)
        return boot_ns;
    uint64_t first_ns = first_boot_ns_.value_or(0);
    return boot_ns > first_ns ? boot_ns - first_ns : 0;
}

bool WindowTest::holds(const formats::ClockModel& clock, uint64_t mono_ns) {
    if (window_.from_first_record && !first_boot_ns_)
        first_boot_ns_ = clock.boot_ns(mono_ns);
    uint64_t place_ns = place(clock, mono_ns);
    return !begins_after(place_ns) && !ends_before(place_ns);
}

bool WindowTest::touches(const formats::ClockModel& clock, uint64_t from_mono_ns,
                         uint64_t to_mono_ns) const {
    return !begins_after(place(clock, to_mono_ns)) && !ends_before(place(clock, from_mono_ns));
}

} // namespace daybreak::analyze
