// SPDX-License-Identifier: Apache-2.0
//
// What the running kernel still knows of its start.
#include "cmd/backfill/kernel_start.hpp"

#include "base/counted.hpp"
#include "base/file.hpp"
#include "cmd/backfill/kernel_log.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace daybreak::cmd {

using base::counted;
using base::ErrorCode;
using base::errorf;
using base::Result;
using Kind = StartEvent::Kind;

namespace {

/// Text of ftrace: 1500 events are 150 KB.
constexpr size_t kTraceBytesMax = 64u << 20;
constexpr const char* kOurClock = "x86-tsc";
constexpr uint64_t kNsPerMs = 1'000'000, kNsPerSecond = 1'000'000'000;
/// The kernel's clock begins before its first initcall, and stands until interrupts come.
constexpr long double kBeforeClockNs = 10.0L * kNsPerSecond;

Result<std::string> text_of(const std::string& path) {
    DBK_TRY(base::Bytes bytes, base::read_file(path, kTraceBytesMax));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// "local global [x86-tsc]": the clock in brackets.
std::string clock_of(const std::string& text) {
    size_t begin = text.find('['), end = text.find(']');
    return begin == std::string::npos || end == std::string::npos || end < begin
               ? ""
               : text.substr(begin + 1, end - begin - 1);
}

uint64_t ns_of(long double ns) {
    return static_cast<uint64_t>(std::llroundl(std::max(ns, 0.0L)));
}

void say_no_loader(const char* why, KernelStart& start) {
    start.losses.push_back(
        {"how long firmware and boot loader took is not known: " + std::string(why),
         {{Kind::loader_done, 1}}});
}

/// A CPU's TSC read twice.
struct TscLine {
    formats::TscReading first, second;
};

/// Each CPU's own: the kernel may have moved the TSC of one to that of another.
std::map<uint32_t, TscLine> read_lines(const formats::FtraceText& trace, StartClocks& clocks) {
    std::map<uint32_t, TscLine> lines;
    for (const formats::FtraceEvent& event : trace.events)
        if (!lines.contains(event.cpu))
            lines[event.cpu].first = clocks.read_tsc(event.cpu);
    // What the readings are wrong by grows with the time back to the events.
    clocks.wait_ns(clocks.raw_ns() < 600 * kNsPerSecond ? kNsPerSecond / 2 : 5 * kNsPerSecond);
    for (auto& [cpu, line] : lines)
        line.second = clocks.read_tsc(cpu);
    return lines;
}

void say_how_exact(const std::map<uint32_t, TscLine>& lines, StartClocks& clocks,
                   KernelStart& start) {
    uint64_t up_ns = clocks.raw_ns(), error_ns = up_ns / 5'000'000; // two rates, each of 24 bits
    for (const auto& [cpu, line] : lines) {
        error_ns = std::max(error_ns, formats::clock_error_ns(0, line.first, line.second));
        if (line.first.is_other_cpu || line.second.is_other_cpu)
            start.losses.push_back(
                {base::strprintf("the TSC of CPU %u cannot be read: the times of "
                                 "its events are by that of another",
                                 cpu),
                 {}});
    }
    if (error_ns >= kNsPerMs)
        start.notes.push_back(base::strprintf("times may be wrong by %" PRIu64
                                              " ms: the machine has been up for %" PRIu64 " s",
                                              error_ns / kNsPerMs, up_ns / kNsPerSecond));
    uint64_t slept_ns = clocks.slept_ns();
    if (slept_ns >= kNsPerMs)
        start.losses.push_back({base::strprintf("the machine was suspended for %" PRIu64
                                                " ms: times of initcalls hold if its TSC went on",
                                                slept_ns / kNsPerMs),
                                {}});
}

/// The TSC counts from the machine's reset: what it had counted when the kernel's clock began is
/// the time of firmware, boot loader and the kernel's first steps.
void add_loader(const formats::FtraceEvent& first, const TscLine& line, uint64_t slept_ns,
                KernelStart& start) {
    long double ns = -formats::clock_ns_of(0, line.first, line.second) - slept_ns;
    if (ns < 1)
        return say_no_loader("the TSC did not go before the kernel's clock", start);
    start.events.push_back({.kind = Kind::loader_done,
                            .cpu = first.cpu,
                            .tid = first.tid,
                            .task = first.task,
                            .took_ns = ns_of(ns)});
}

/// Returns the time of each event; below 0 before CLOCK_MONOTONIC began.
Result<std::vector<long double>> times_of(const formats::FtraceText& trace,
                                          const std::string& clock, StartClocks& clocks,
                                          KernelStart& start) {
    bool needs_tsc = std::any_of(trace.events.begin(), trace.events.end(),
                                 [](const auto& event) { return event.is_cycles; });
    if (clock != (needs_tsc ? kOurClock : "mono"))
        return errorf(ErrorCode::unsupported,
                      "the events have times of ftrace's clock %s: boot with trace_clock=%s",
                      clock.c_str(), kOurClock);
    std::vector<long double> times;
    if (!needs_tsc) {
        for (const formats::FtraceEvent& event : trace.events)
            times.push_back(event.stamp);
        say_no_loader("the events do not have times of the TSC", start);
        return times;
    }
    std::map<uint32_t, TscLine> lines = read_lines(trace, clocks);
    say_how_exact(lines, clocks, start);
    // CLOCK_MONOTONIC_RAW stood while the machine was suspended.
    uint64_t slept_ns = clocks.slept_ns(), clamped = 0;
    add_loader(trace.events[0], lines[trace.events[0].cpu], slept_ns, start);
    for (const formats::FtraceEvent& event : trace.events) {
        const TscLine& line = lines[event.cpu];
        if (event.stamp > line.second.cycles)
            return errorf(ErrorCode::unsupported,
                          "the TSC of CPU %u is at %" PRIu64 ", and was at %" PRIu64
                          " at an event: it began anew, and times are not known",
                          event.cpu, line.second.cycles, event.stamp);
        times.push_back(formats::clock_ns_of(event.stamp, line.first, line.second) + slept_ns);
        clamped += times.back() < -kBeforeClockNs ? 1 : 0;
    }
    if (clamped != 0)
        start.losses.push_back(
            {counted(clamped, "event") +
                 " of ftrace would be before the clock began: their times are wrong",
             {}});
    return times;
}

struct Begun {
    std::string symbol;
    long double ns = 0;
};

/// Ends a thread's initcall: those that began in it have ended unseen.
/// Returns when it began; empty when that was not seen.
std::optional<long double> take_begun(std::vector<Begun>& stack, const std::string& symbol,
                                      uint64_t& unseen) {
    auto found = std::find_if(stack.rbegin(), stack.rend(),
                              [&symbol](const Begun& begun) { return begun.symbol == symbol; });
    if (found == stack.rend())
        return std::nullopt;
    auto at = found.base() - 1;
    long double ns = at->ns;
    for (auto inner = at + 1; inner != stack.end(); ++inner)
        unseen += formats::kernel_function_of(inner->symbol).empty() ? 0 : 1;
    stack.erase(at, stack.end());
    return ns;
}

void say_lost(const formats::FtraceText& trace, uint64_t unseen, uint64_t unbegun,
              KernelStart& start) {
    uint64_t overwritten = trace.written > trace.in_buffer ? trace.written - trace.in_buffer : 0;
    uint64_t lost = std::max(trace.lost, overwritten);
    if (lost != 0 || trace.lost_unknown)
        start.losses.push_back(
            {"the kernel had no room for " +
                 (lost != 0 ? counted(lost, "event") : std::string("some events")) +
                 " of ftrace: boot with a larger trace_buf_size=",
             {{Kind::initcall_start, std::max<uint64_t>(lost - lost / 2, 1)},
              {Kind::initcall_done, lost / 2}}});
    if (unseen != 0)
        start.losses.push_back({"ftrace does not have the end of " + counted(unseen, "initcall"),
                                {{Kind::initcall_done, unseen}}});
    if (unbegun != 0)
        start.losses.push_back({"ftrace does not have the start of " + counted(unbegun, "initcall"),
                                {{Kind::initcall_start, unbegun}, {Kind::initcall_done, unbegun}}});
    if (trace.other_lines != 0)
        start.losses.push_back(
            {"left out " + counted(trace.other_lines, "line") + " of ftrace: not an event", {}});
}

/// The initcalls that are the kernel's own.
void add_initcalls(const formats::FtraceText& trace, const std::vector<long double>& times,
                   KernelStart& start) {
    std::map<int32_t, std::vector<Begun>> threads; // they nest
    uint64_t unseen = 0, unbegun = 0;
    for (size_t i = 0; i < times.size(); i++) {
        const formats::FtraceEvent& event = trace.events[i];
        StartEvent seen{
            .mono_ns = ns_of(times[i]), .cpu = event.cpu, .tid = event.tid, .task = event.task};
        if (event.name == "initcall_level") {
            seen.text = formats::field_of(event, "level").value_or("");
            start.events.push_back(seen);
            continue;
        }
        std::string symbol = formats::field_of(event, "func").value_or("0x");
        seen.text = formats::kernel_function_of(symbol);
        std::vector<Begun>& stack = threads[event.tid];
        if (event.name == "initcall_start") {
            seen.kind = Kind::initcall_start;
            stack.push_back({symbol, times[i]});
        } else if (event.name == "initcall_finish") {
            auto began = take_begun(stack, symbol, unseen);
            seen.kind = Kind::initcall_done;
            seen.error =
                std::strtoll(formats::field_of(event, "ret").value_or("0").c_str(), nullptr, 10);
            if (!began) {
                unbegun += seen.text.empty() ? 0 : 1;
                continue;
            }
            seen.took_ns = ns_of(times[i] - *began);
        } else {
            continue; // an event that another asked for
        }
        if (!seen.text.empty())
            start.events.push_back(seen);
    }
    say_lost(trace, unseen, unbegun, start);
}

/// Whether another kernel booted this one: the number is that of kexec among boot loaders.
bool is_of_kexec(const StartSource& source) {
    constexpr unsigned long kLoaderKexec = 0xd, kLoaderShift = 4;
    auto text = text_of(source.loader);
    return text.ok() && std::strtoul(text->c_str(), nullptr, 10) >> kLoaderShift == kLoaderKexec;
}

/// Returns why what the TSC counted before the kernel's clock is not the loader's time; null when
/// it is.  The kernel says so when it finds that firmware has set the TSC.
const char* why_not_of_loader(const StartSource& source, const KernelStart& start) {
    if (is_of_kexec(source))
        return "another kernel booted this one by kexec";
    bool is_set =
        std::any_of(start.events.begin(), start.events.end(), [](const StartEvent& event) {
            return event.kind == Kind::message &&
                   event.text.find("TSC ADJUST") != std::string::npos;
        });
    return is_set ? "firmware has set the TSC, the kernel's log says" : nullptr;
}

void drop_wrong_loader(const StartSource& source, KernelStart& start) {
    const char* why = why_not_of_loader(source, start);
    if (why && std::erase_if(start.events, [](const StartEvent& event) {
                   return event.kind == Kind::loader_done;
               }) != 0)
        say_no_loader(why, start);
}

/// Makes the module's first message the end.
void end_with_module(KernelStart& start) {
    auto module =
        std::find_if(start.events.begin(), start.events.end(), [](const StartEvent& event) {
            return event.kind == Kind::message && is_said_at_load(event.text);
        });
    if (module == start.events.end()) {
        start.losses.push_back(
            {"when the module came is not known: what it says then is not in the "
             "kernel's log",
             {{Kind::module_loaded, 1}}});
        return;
    }
    module->kind = Kind::module_loaded;
    auto later = static_cast<uint64_t>(
        std::count_if(module + 1, start.events.end(),
                      [](const StartEvent& event) { return event.kind != Kind::message; }));
    if (later != 0)
        start.losses.push_back(
            {"left out " + counted(later, "event") +
                 " of initcalls after the module's first message: the clocks of "
                 "ftrace and of the kernel's log disagree",
             {{Kind::initcall_start, later - later / 2}, {Kind::initcall_done, later / 2}}});
    start.events.erase(module + 1, start.events.end());
}

Result<void> put(const std::string& path, const std::string& text, int how) {
    base::ScopedFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | how));
    if (!file.valid())
        return errorf(ErrorCode::io, "cannot open %s: %s", path.c_str(), std::strerror(errno));
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        return errorf(ErrorCode::io, "cannot write %s: %s", path.c_str(), std::strerror(errno));
    return {};
}

/// Returns the events of a set_event that are not initcalls, a line each.
std::string other_events(const std::string& text) {
    std::string others;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        if (!line.empty() && !line.starts_with("initcall:"))
            others += (others.empty() ? "" : ", ") + line;
    }
    return others;
}

} // namespace

Result<KernelStart> read_kernel_start(const StartSource& source, StartClocks& clocks) {
    if (::access((source.tracefs + "/trace").c_str(), F_OK) != 0)
        return errorf(errno == EACCES ? ErrorCode::io : ErrorCode::not_found,
                      "cannot open %s/trace: %s: be root, mount -t tracefs tracefs %s, or say "
                      "--tracefs FOLDER",
                      source.tracefs.c_str(), std::strerror(errno), source.tracefs.c_str());
    DBK_TRY(std::string text, text_of(source.tracefs + "/trace"));
    DBK_TRY(std::string clock, text_of(source.tracefs + "/trace_clock"));
    formats::FtraceText trace = formats::read_ftrace(text);
    if (std::none_of(trace.events.begin(), trace.events.end(),
                     [](const auto& event) { return event.name.starts_with("initcall_"); }))
        return errorf(ErrorCode::not_found,
                      "%s/trace has no initcalls: the kernel was booted without "
                      "trace_event=initcall trace_clock=x86-tsc, or ftrace was used since",
                      source.tracefs.c_str());
    KernelStart start;
    DBK_TRY(std::vector<long double> times, times_of(trace, clock_of(clock), clocks, start));
    add_initcalls(trace, times, start);
    add_messages(source, clocks, start);
    drop_wrong_loader(source, start);
    std::stable_sort(start.events.begin(), start.events.end(),
                     [](const auto& a, const auto& b) { return a.mono_ns < b.mono_ns; });
    end_with_module(start);
    if (std::any_of(start.events.begin(), start.events.end(),
                    [](const StartEvent& event) { return event.kind != Kind::loader_done; }))
        return start;
    std::string why = "nothing is known of the kernel's start";
    for (const StartLoss& loss : start.losses)
        why += "; " + loss.text;
    return base::Error(ErrorCode::not_found, why);
}

Result<std::string> release_kernel_start(const StartSource& source) {
    DBK_TRY(std::string events, text_of(source.tracefs + "/set_event"));
    DBK_TRY(std::string clock, text_of(source.tracefs + "/trace_clock"));
    // Opened with O_TRUNC, every event would end.
    DBK_TRY_VOID(put(source.tracefs + "/set_event", "!initcall:*\n", O_APPEND));
    std::string others = other_events(events);
    if (!others.empty())
        return "ftrace keeps its buffer and its clock: it has other events, " + others;
    if (clock_of(clock) != kOurClock)
        return "ftrace keeps its buffer and its clock, " + clock_of(clock);
    DBK_TRY_VOID(put(source.tracefs + "/trace", "", O_TRUNC));
    DBK_TRY_VOID(put(source.tracefs + "/trace_clock", "local", O_TRUNC));
    return std::string();
}

} // namespace daybreak::cmd
