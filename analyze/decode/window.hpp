// SPDX-License-Identifier: Apache-2.0
//
// Windows: whether a time of a recording is one that was asked for.
#pragma once

#include "formats/segment/clock.hpp"

#include <cstdint>
#include <optional>

namespace daybreak::analyze {

/// Which records count and print; both ends belong to the window.
struct TimeWindow {
    std::optional<uint64_t> since_ns, until_ns;
    /// false: times are CLOCK_BOOTTIME; true: they count from the first record that is here.
    bool from_first_record = false;
    /// Times are CLOCK_MONOTONIC, as a snapshot's window is.
    bool is_monotonic = false;

    bool is_set() const { return since_ns || until_ns; }
};

/// A window at work.  Times are a ring's CLOCK_MONOTONIC, which its clock turns into what the
/// window counts in.
class WindowTest {
public:
    explicit WindowTest(const TimeWindow& window) : window_(window) {}

    bool is_set() const { return window_.is_set(); }
    /// Whether a record of that time is inside.  It is asked of all records in their order: the
    /// first of them is the one that from_first_record counts from.
    bool holds(const formats::ClockModel& clock, uint64_t mono_ns);
    /// Whether any time of the interval is inside, both ends included.
    bool touches(const formats::ClockModel& clock, uint64_t from_mono_ns,
                 uint64_t to_mono_ns) const;

private:
    uint64_t place(const formats::ClockModel& clock, uint64_t mono_ns) const;
    bool begins_after(uint64_t place_ns) const {
        return window_.since_ns && place_ns < *window_.since_ns;
    }
    bool ends_before(uint64_t place_ns) const {
        return window_.until_ns && place_ns > *window_.until_ns;
    }

    TimeWindow window_;
    std::optional<uint64_t> first_boot_ns_; // of all records, in the window or not
};

} // namespace daybreak::analyze
