// SPDX-License-Identifier: Apache-2.0
#include "formats/dof/reading_rates.hpp"

#include <catch2/catch.hpp>

using namespace daybreak::formats;

namespace {

constexpr uint64_t kMs = 1'000'000, kSecond = 1000 * kMs;

std::vector<std::string> reported(uint32_t option, uint64_t value) {
    return changed_rates({{option, value, {}}});
}

} // namespace

TEST_CASE("rates are once a second unless set, statusrate at most 10 s", "[formats][rates]") {
    ReadingRates rates = reading_rates_of({});
    CHECK(rates.switch_ns == kSecond);
    CHECK(rates.aggregate_ns == kSecond);
    CHECK(rates.status_ns == kSecond);
    CHECK_FALSE(rates.has_aggregate_rate);
    rates = reading_rates_of({{DTRACEOPT_SWITCHRATE, 5, {}},
                              {DTRACEOPT_AGGRATE, 0, {}},
                              {DTRACEOPT_STATUSRATE, 11 * kSecond, {}},
                              {DTRACEOPT_BUFSIZE, 7, {}}});
    CHECK(rates.switch_ns == 5);
    CHECK(rates.aggregate_ns == 1);
    CHECK(rates.has_aggregate_rate);
    CHECK(rates.status_ns == 10 * kSecond);
    rates.set(DTRACEOPT_AGGRATE, DTRACEOPT_UNSET);
    CHECK(rates.aggregate_ns == kSecond);
    CHECK_FALSE(rates.has_aggregate_rate);
}

TEST_CASE("rates out of bounds are reported in dtrace's words", "[formats][rates]") {
    using Texts = std::vector<std::string>;
    CHECK(reported(DTRACEOPT_CLEANRATE, 199'999) == Texts{"cleaning rate reduced to 5000 hz"});
    CHECK(reported(DTRACEOPT_CLEANRATE, 0) == Texts{"cleaning rate reduced to 5000 hz"});
    CHECK(reported(DTRACEOPT_CLEANRATE, 200'000).empty());
    CHECK(reported(DTRACEOPT_CLEANRATE, 60 * kSecond).empty());
    CHECK(reported(DTRACEOPT_CLEANRATE, 60 * kSecond + 1) ==
          Texts{"cleaning rate increased to once every 60 seconds"});
    CHECK(reported(DTRACEOPT_STATUSRATE, 10 * kSecond).empty());
    CHECK(reported(DTRACEOPT_STATUSRATE, 3600 * kSecond) ==
          Texts{"status rate increased to once every 10 seconds"});
    CHECK(reported(DTRACEOPT_STATUSRATE, 0).empty());
    CHECK(reported(DTRACEOPT_STATUSRATE, DTRACEOPT_UNSET).empty());
    CHECK(reported(DTRACEOPT_SWITCHRATE, 86400 * kSecond).empty());
    CHECK(reported(DTRACEOPT_AGGRATE, 1).empty());
}

TEST_CASE("each loop looks at once, and then at its own rate", "[formats][rates]") {
    ReadingRates rates;
    rates.set(DTRACEOPT_SWITCHRATE, 30 * kMs);
    rates.set(DTRACEOPT_AGGRATE, 20 * kMs);
    rates.set(DTRACEOPT_STATUSRATE, 50 * kMs);
    ReadingSchedule schedule(rates, 1000 * kMs);
    CHECK(schedule.due_ns() == 1000 * kMs);
    CHECK_FALSE(schedule.take(999 * kMs).any());
    Readings all = schedule.take(1000 * kMs);
    CHECK((all.status && all.aggregations && all.records));

    std::string order;
    for (int i = 0; i < 6; i++) {
        uint64_t due = schedule.due_ns();
        Readings readings = schedule.take(due);
        order += std::to_string(due / kMs - 1000) + (readings.status ? "s" : "") +
                 (readings.aggregations ? "a" : "") + (readings.records ? "r" : "") + " ";
    }
    CHECK(order == "20a 30r 40a 50s 60ar 80a ");
}

TEST_CASE("without aggrate aggregations are read with the records, too", "[formats][rates]") {
    ReadingRates rates;
    rates.set(DTRACEOPT_SWITCHRATE, 300 * kMs);
    ReadingSchedule schedule(rates, 0);
    schedule.take(0);
    CHECK(schedule.take(300 * kMs).aggregations);
    rates.set(DTRACEOPT_AGGRATE, kSecond);
    schedule.set_rates(rates);
    CHECK_FALSE(schedule.take(600 * kMs).aggregations);
    CHECK(schedule.take(1000 * kMs).aggregations);
}

TEST_CASE("looks that were missed are not made up for, and the beat stays", "[formats][rates]") {
    ReadingRates rates;
    rates.set(DTRACEOPT_SWITCHRATE, 10 * kMs);
    ReadingSchedule schedule(rates, 0);
    schedule.take(0);
    CHECK(schedule.take(57 * kMs).records);
    CHECK(schedule.due_ns() == 60 * kMs);
    CHECK(schedule.take(60 * kMs, 100 * kMs).records);
    CHECK(schedule.due_ns() == 100 * kMs);
    CHECK(schedule.take(100 * kMs, 101 * kMs).records);
    CHECK(schedule.due_ns() == 110 * kMs);
}

TEST_CASE("new rates count from the last looks", "[formats][rates]") {
    ReadingRates rates;
    rates.set(DTRACEOPT_SWITCHRATE, 10 * kMs);
    rates.set(DTRACEOPT_AGGRATE, 10 * kMs);
    ReadingSchedule schedule(rates, 0);
    schedule.take(0);
    schedule.take(500 * kMs);
    rates.set(DTRACEOPT_SWITCHRATE, 5 * kSecond);
    rates.set(DTRACEOPT_AGGRATE, UINT64_MAX - 1);
    schedule.set_rates(rates);
    CHECK(schedule.status_due_ns() == 1000 * kMs);
    CHECK_FALSE(schedule.take(1000 * kMs, 5400 * kMs).records);
    CHECK_FALSE(schedule.take(5499 * kMs).records);
    CHECK(schedule.take(5500 * kMs).records);
}

TEST_CASE("an interval of 0 looks every time", "[formats][rates]") {
    ReadingRates rates;
    rates.set(DTRACEOPT_STATUSRATE, 0);
    ReadingSchedule schedule(rates, 5);
    for (uint64_t now : {5, 6, 100})
        CHECK(schedule.take(now).status);
    schedule.take(101, 200);
    CHECK(schedule.status_due_ns() == 200);
}
