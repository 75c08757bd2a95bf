// SPDX-License-Identifier: Apache-2.0
//
// ReadingRates: how often a consumer looks at what is traced.
//
// Three loops, each at its own rate, as dtrace(1) has them:
//
//     statusrate   drops, errors, whether exit() was called or a fill buffer is full
//     aggrate      aggregation buffers
//     switchrate   records
//
// Each looks once when tracing has begun, and then once per interval.  Aggregations are read with
// the records, too, as long as aggrate is not set: printa() then shows what had been counted
// when it ran.
#pragma once

#include "formats/dof/dof_program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace daybreak::formats {

struct ReadingRates {
    static constexpr uint64_t kDefaultNs = 1'000'000'000; ///< DTrace guide, "Options"
    static constexpr uint64_t kStatusMaxNs = 10'000'000'000;

    uint64_t switch_ns = kDefaultNs;
    uint64_t aggregate_ns = kDefaultNs;
    uint64_t status_ns = kDefaultNs;
    bool has_aggregate_rate = false; ///< aggrate is set

    /// Sets one by its option's number; DTRACEOPT_UNSET is the default again.  Other options
    /// change nothing.
    void set(uint32_t option, uint64_t value);

    bool operator==(const ReadingRates&) const = default;
};

/// Returns the rates that a program's options ask for.
ReadingRates reading_rates_of(const std::vector<DofOption>& options);

/// Returns what dtrace(1) says of the rates that are out of bounds, and therefore not what was
/// asked for: "cleaning rate reduced to 5000 hz".
std::vector<std::string> changed_rates(const std::vector<DofOption>& options);

/// What is looked at; when several are due, in this order.
struct Readings {
    bool status = false;
    bool aggregations = false;
    bool records = false;

    bool any() const { return status || aggregations || records; }
};

/// When the next looks are due, on one clock of nanoseconds.
class ReadingSchedule {
public:
    /// Everything is due at once.
    ReadingSchedule(const ReadingRates& rates, uint64_t now_ns);

    const ReadingRates& rates() const { return rates_; }
    /// The rates from the last looks on: setopt().
    void set_rates(const ReadingRates& rates) { rates_ = rates; }
    /// When the first of the next looks is due.
    uint64_t due_ns() const;
    uint64_t status_due_ns() const { return status_.due_ns(rates_.status_ns); }
    /// Returns what is due by then; it counts as done.  Of these, looks before `next_ns` are left
    /// out: nothing happens before, so they would see nothing new.
    Readings take(uint64_t now_ns, uint64_t next_ns = 0);

private:
    struct Loop {
        uint64_t looked_ns = 0; // when the last look was due
        bool has_looked = false;

        uint64_t due_ns(uint64_t interval_ns) const;
        bool take(uint64_t now_ns, uint64_t next_ns, uint64_t interval_ns);
    };

    ReadingRates rates_;
    Loop status_, aggregations_, records_;
};

} // namespace daybreak::formats
