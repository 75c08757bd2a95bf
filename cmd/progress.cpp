// SPDX-License-Identifier: Apache-2.0
//
// Progress: a line on a terminal that shows how far a long piece of work is.
#include "cmd/progress.hpp"

#include "base/counted.hpp"
#include "base/result.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

std::string rate_text(ProgressUnit unit, double per_second) {
    if (unit == ProgressUnit::bytes)
        return base::strprintf("%.1f MiB/s", per_second / (1 << 20));
    if (per_second < 1000)
        return base::strprintf("%.0f records/s", per_second);
    bool millions = per_second >= 1e6;
    return base::strprintf("%.1f %s records/s", per_second / (millions ? 1e6 : 1e3),
                           millions ? "M" : "k");
}

std::string left_text(double seconds) {
    if (seconds < 100)
        return base::strprintf("%.0f s left", seconds);
    double minutes = seconds / 60;
    return minutes < 100 ? base::strprintf("%.0f min left", minutes)
                         : base::strprintf("%.1f h left", minutes / 60);
}

} // namespace

std::string progress_line(const std::string& what, ProgressUnit unit, uint64_t done, uint64_t total,
                          double seconds) {
    if (total == 0)
        return done == 0 ? what
               : unit == ProgressUnit::records
                   ? what + ": " + base::counted(done, "record")
                   : what + base::strprintf(": %" PRIu64 " KiB", done >> 10);
    constexpr uint64_t kWidth = 20;
    double part = static_cast<double>(std::min(done, total)) / static_cast<double>(total);
    std::string bar(static_cast<size_t>(kWidth * part), '#');
    bar.resize(kWidth, '.');
    std::string line = what + " [" + bar + base::strprintf("] %d %%", static_cast<int>(100 * part));
    if (done == 0 || seconds <= 0)
        return line;
    if (unit != ProgressUnit::parts)
        line += ", " + rate_text(unit, static_cast<double>(done) / seconds);
    return line + ", " + left_text(seconds * (1 - part) / part);
}

void Progress::step(std::string_view name, uint64_t done, uint64_t total) {
    if (what_ != name) {
        what_ = name;
        step_start_ = Clock::now();
    }
    update(done, total);
}

void Progress::update(uint64_t done, uint64_t total) {
    Clock::time_point now = Clock::now();
    if (!::isatty(STDERR_FILENO) || now - start_ < std::chrono::milliseconds(500) ||
        now - last_ < std::chrono::milliseconds(100))
        return;
    last_ = now;
    shown_ = true;
    std::chrono::duration<double> taken = now - step_start_;
    std::fprintf(stderr, "\r%s\033[K",
                 progress_line(what_, unit_, done, total, taken.count()).c_str());
}

void Progress::clear() {
    if (shown_)
        std::fputs("\r\033[K", stderr);
    shown_ = false;
}

} // namespace daybreak::cmd
