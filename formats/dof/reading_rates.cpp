// SPDX-License-Identifier: Apache-2.0
//
// ReadingRates: how often a consumer looks at what is traced.
#include "formats/dof/reading_rates.hpp"

#include "base/result.hpp"
#include "formats/abi/limits.h"

#include <algorithm>
#include <cinttypes>
#include <optional>

namespace daybreak::formats {

namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

/// In the words of dtrace(1): the unit that needs no fraction.
std::string rate_text(uint64_t interval_ns) {
    if (kNsPerSecond % interval_ns == 0)
        return base::strprintf("%" PRIu64 " hz", kNsPerSecond / interval_ns);
    if (interval_ns % kNsPerSecond == 0)
        return base::strprintf("once every %" PRIu64 " seconds", interval_ns / kNsPerSecond);
    return base::strprintf("once every %" PRIu64 " nanoseconds", interval_ns);
}

std::optional<std::string> changed_rate(const char* name, uint64_t asked_ns, uint64_t low_ns,
                                        uint64_t high_ns) {
    uint64_t got_ns = std::clamp(asked_ns, low_ns, high_ns);
    if (asked_ns == DTRACEOPT_UNSET || got_ns == asked_ns)
        return std::nullopt;
    return std::string(name) + (got_ns > asked_ns ? " reduced to " : " increased to ") +
           rate_text(got_ns);
}

} // namespace

void ReadingRates::set(uint32_t option, uint64_t value) {
    // An interval of 0 is the shortest there is.
    uint64_t interval_ns = value == DTRACEOPT_UNSET ? kDefaultNs : std::max<uint64_t>(value, 1);
    if (option == DTRACEOPT_SWITCHRATE)
        switch_ns = interval_ns;
    if (option == DTRACEOPT_STATUSRATE)
        status_ns = std::min(interval_ns, kStatusMaxNs);
    if (option == DTRACEOPT_AGGRATE) {
        aggregate_ns = interval_ns;
        has_aggregate_rate = value != DTRACEOPT_UNSET;
    }
}

ReadingRates reading_rates_of(const std::vector<DofOption>& options) {
    ReadingRates rates;
    for (const DofOption& option : options)
        rates.set(option.option, option.value);
    return rates;
}

std::vector<std::string> changed_rates(const std::vector<DofOption>& options) {
    std::optional<uint64_t> clean_ns, status_ns;
    for (const DofOption& option : options) {
        if (option.option == DTRACEOPT_CLEANRATE)
            clean_ns = option.value;
        if (option.option == DTRACEOPT_STATUSRATE)
            status_ns = option.value;
    }
    std::vector<std::string> texts;
    if (clean_ns)
        if (auto text = changed_rate("cleaning rate", *clean_ns, DBK_CLEANRATE_MIN_NS,
                                     DBK_CLEANRATE_MAX_NS))
            texts.push_back(*text);
    if (status_ns)
        if (auto text = changed_rate("status rate", *status_ns, 0, ReadingRates::kStatusMaxNs))
            texts.push_back(*text);
    return texts;
}

uint64_t ReadingSchedule::Loop::due_ns(uint64_t interval_ns) const {
    if (!has_looked)
        return looked_ns;
    return interval_ns > UINT64_MAX - looked_ns ? UINT64_MAX : looked_ns + interval_ns;
}

bool ReadingSchedule::Loop::take(uint64_t now_ns, uint64_t next_ns, uint64_t interval_ns) {
    if (now_ns < due_ns(interval_ns))
        return false;
    has_looked = true;
    // Looks that were missed are not made up for.
    uint64_t last_ns = next_ns > now_ns ? next_ns - 1 : now_ns;
    looked_ns = last_ns - (last_ns - looked_ns) % interval_ns;
    return true;
}

ReadingSchedule::ReadingSchedule(const ReadingRates& rates, uint64_t now_ns) : rates_(rates) {
    for (Loop* loop : {&status_, &aggregations_, &records_})
        loop->looked_ns = now_ns;
}

uint64_t ReadingSchedule::due_ns() const {
    return std::min({status_.due_ns(rates_.status_ns), aggregations_.due_ns(rates_.aggregate_ns),
                     records_.due_ns(rates_.switch_ns)});
}

Readings ReadingSchedule::take(uint64_t now_ns, uint64_t next_ns) {
    Readings due;
    due.status = status_.take(now_ns, next_ns, rates_.status_ns);
    due.records = records_.take(now_ns, next_ns, rates_.switch_ns);
    due.aggregations = aggregations_.take(now_ns, next_ns, rates_.aggregate_ns);
    due.aggregations |= due.records && !rates_.has_aggregate_rate;
    return due;
}

} // namespace daybreak::formats
