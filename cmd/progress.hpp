// SPDX-License-Identifier: Apache-2.0
//
// Progress: a line on a terminal that shows how far a long piece of work is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace daybreak::cmd {

/// What a long piece of work counts.
enum class ProgressUnit : uint8_t { parts, records, bytes };

/// "replaying [########............] 40 %, 12.5 M records/s, 42 s left"; of parts without a
/// rate.
/// A `total` of 0 is not known.  Below 80 columns, where `what` is no longer than
/// "daybreak: replaying" or, of bytes, "looking through the dump".
std::string progress_line(const std::string& what, ProgressUnit unit, uint64_t done, uint64_t total,
                          double seconds);

/// A line on stderr that shows how far a long piece of work is; silent when stderr is not a
/// terminal, and for work that is over within half a second.
class Progress {
public:
    explicit Progress(std::string what, ProgressUnit unit = ProgressUnit::parts)
        : what_(std::move(what)), unit_(unit) {}
    ~Progress() { clear(); }
    void update(uint64_t done, uint64_t total);
    /// The same, for work of several steps: names the one under way, whose rate and time it is.
    void step(std::string_view name, uint64_t done, uint64_t total);
    void clear();

private:
    using Clock = std::chrono::steady_clock;
    std::string what_;
    ProgressUnit unit_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
    Clock::time_point step_start_ = start_;
    bool shown_ = false;
};

} // namespace daybreak::cmd
