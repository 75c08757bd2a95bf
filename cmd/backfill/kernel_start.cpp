// SPDX-License-Identifier: Apache-2.0
//
// What the running kernel still knows of its start.
#include "cmd/backfill/kernel_start.hpp"

#include "base/counted.hpp"
#include "base/file.hpp"
#include "cmd/this_process.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <sched.h>
#include <unistd.h>
#include <x86intrin.h>

namespace daybreak::cmd {

using base::ErrorCode;
using base::errorf;
using base::Result;

namespace {

constexpr const char* kInstance = "/instances/daybreak";
/// Text of ftrace: 1500 events are 150 KB.
constexpr size_t kTraceBytesMax = 64u << 20;
/// The kernel's limit of a record of its log.
constexpr size_t kRecordBytesMax = 8192;

Result<std::string> text_of(const std::string& path) {
    DBK_TRY(base::Bytes bytes, base::read_file(path, kTraceBytesMax));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// The folder of tracefs that has the events: our instance, where the kernel could make one.
std::string folder_of(const StartSource& source) {
    std::string instance = source.tracefs + kInstance;
    return ::access(instance.c_str(), F_OK) == 0 ? instance : source.tracefs;
}

/// The TSC of a CPU and the clock at one moment: of some tries the one that took least.  A CPU that
/// is gone has the reading of another.
formats::TscReading read_tsc(uint32_t cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu % CPU_SETSIZE, &one);
    static_cast<void>(::sched_setaffinity(0, sizeof(one), &one));
    formats::TscReading best;
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < 50; i++) {
        uint64_t before_ns = clock_ns(CLOCK_MONOTONIC), cycles = __rdtsc();
        uint64_t after_ns = clock_ns(CLOCK_MONOTONIC);
        if (after_ns - before_ns >= best_ns)
            continue;
        best_ns = after_ns - before_ns;
        best = {cycles, before_ns + best_ns / 2};
    }
    return best;
}

/// "local global [x86-tsc]": the clock in brackets.
std::string clock_of(const std::string& text) {
    size_t begin = text.find('['), end = text.find(']');
    return begin == std::string::npos || end == std::string::npos || end < begin
               ? ""
               : text.substr(begin + 1, end - begin - 1);
}

/// Returns the time of each event; below 0 before CLOCK_MONOTONIC began.
Result<std::vector<int64_t>> times_of(const formats::FtraceText& trace, const std::string& clock) {
    bool needs_tsc = std::any_of(trace.events.begin(), trace.events.end(),
                                 [](const auto& event) { return event.is_cycles; });
    if (!needs_tsc && clock != "mono")
        return errorf(ErrorCode::unsupported,
                      "the events have times of ftrace's clock %s: boot with trace_clock=x86-tsc",
                      clock.c_str());
    std::vector<int64_t> times;
    for (const formats::FtraceEvent& event : trace.events)
        times.push_back(static_cast<int64_t>(event.stamp));
    if (!needs_tsc)
        return times;
    if (clock != "x86-tsc")
        return errorf(ErrorCode::unsupported, "the events have times of ftrace's clock %s",
                      clock.c_str());
    // Each CPU's own: the kernel may have moved the TSC of one to that of another.
    cpu_set_t before;
    static_cast<void>(::sched_getaffinity(0, sizeof(before), &before));
    std::map<uint32_t, formats::TscReading> first, second;
    for (const formats::FtraceEvent& event : trace.events)
        if (!first.contains(event.cpu))
            first[event.cpu] = read_tsc(event.cpu);
    ::usleep(500'000);
    for (const auto& [cpu, reading] : first)
        second[cpu] = read_tsc(cpu);
    static_cast<void>(::sched_setaffinity(0, sizeof(before), &before));
    for (size_t i = 0; i < times.size(); i++) {
        uint32_t cpu = trace.events[i].cpu;
        times[i] = formats::mono_ns_of(trace.events[i].stamp, first[cpu], second[cpu]);
    }
    return times;
}

/// The initcalls that are the kernel's own.
void add_initcalls(const formats::FtraceText& trace, const std::vector<int64_t>& times, KernelStart& start) {
    std::map<int32_t, std::vector<int64_t>> began; // by thread: they nest
    uint64_t others = trace.other_lines;
    for (size_t i = 0; i < times.size(); i++) {
        const formats::FtraceEvent& event = trace.events[i];
        StartEvent seen{.mono_ns = static_cast<uint64_t>(std::max<int64_t>(times[i], 0)),
                        .cpu = event.cpu,
                        .tid = event.tid,
                        .task = event.task};
        if (event.name == "initcall_level") {
            seen.text = formats::field_of(event, "level").value_or("");
            start.events.push_back(seen);
            continue;
        }
        seen.text = formats::kernel_function_of(formats::field_of(event, "func").value_or("0x"));
        std::vector<int64_t>& stack = began[event.tid];
        if (event.name == "initcall_start") {
            seen.kind = StartEvent::Kind::initcall_start;
            stack.push_back(times[i]);
        } else if (event.name == "initcall_finish" && !stack.empty()) {
            seen.kind = StartEvent::Kind::initcall_done;
            seen.error = std::strtoll(formats::field_of(event, "ret").value_or("0").c_str(), nullptr, 10);
            seen.took_ns = static_cast<uint64_t>(std::max<int64_t>(times[i] - stack.back(), 0));
            stack.pop_back();
        } else {
            others++;
            continue;
        }
        if (!seen.text.empty())
            start.events.push_back(seen);
    }
    if (trace.lost != 0)
        start.losses.push_back("the kernel had no room for " + base::counted(trace.lost, "event") +
                               " of ftrace");
    if (others != 0)
        start.losses.push_back(base::counted(others, "line") + " of ftrace's are of other events");
}

/// The kernel's log: every record that it still has, from the file of a device.
class Log {
public:
    explicit Log(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)) {}
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    ~Log() {
        if (fd_ >= 0)
            ::close(fd_);
    }

    /// Adds the messages.
    void add(KernelStart& start) {
        if (fd_ < 0) {
            start.losses.push_back("the kernel's messages are not here: cannot open " + path_ + ": " +
                                   std::strerror(errno));
            return;
        }
        // The log's clock is not CLOCK_MONOTONIC: a message of our own has a time of both.
        std::string mark = base::strprintf("daybreak: now it is %" PRIu64 " ns", clock_ns(CLOCK_MONOTONIC));
        uint64_t mark_ns = clock_ns(CLOCK_MONOTONIC);
        std::string line = "<7>" + mark + "\n";
        if (::write(fd_, line.data(), line.size()) < 0) {
            start.losses.push_back("the kernel's messages are not here, as their times are not known: cannot write to " +
                                   path_ + ": " + std::strerror(errno));
            return;
        }
        std::vector<formats::KernelMessage> messages = read_all(start);
        auto own = std::find_if(messages.begin(), messages.end(),
                                [&mark](const auto& message) { return message.text == mark; });
        if (own == messages.end()) {
            start.losses.push_back("the kernel's messages are not here, as their times are not known: ours is not among them");
            return;
        }
        int64_t offset_ns = static_cast<int64_t>(mark_ns) - static_cast<int64_t>(own->stamp_ns);
        for (const formats::KernelMessage& message : messages) {
            int64_t ns = std::max<int64_t>(static_cast<int64_t>(message.stamp_ns) + offset_ns, 0);
            if (message.facility == 0)
                start.events.push_back({.kind = StartEvent::Kind::message,
                                        .mono_ns = static_cast<uint64_t>(ns),
                                        .text = message.text,
                                        .log_level = message.level});
        }
    }

private:
    std::vector<formats::KernelMessage> read_all(KernelStart& start) {
        std::vector<formats::KernelMessage> messages;
        ::lseek(fd_, 0, SEEK_SET);
        std::vector<char> record(kRecordBytesMax);
        bool overwritten = false;
        for (;;) {
            ssize_t bytes = ::read(fd_, record.data(), record.size());
            if (bytes < 0 && errno == EPIPE) {
                overwritten = true; // while we read
                continue;
            }
            if (bytes <= 0)
                break;
            std::string_view text(record.data(), static_cast<size_t>(bytes));
            if (messages.empty() && !text.substr(text.find(',') + 1).starts_with("0,"))
                overwritten = true;
            if (auto message = formats::read_kernel_message(text))
                messages.push_back(std::move(*message));
        }
        if (overwritten)
            start.losses.push_back("the kernel's first messages were overwritten: boot with a larger log_buf_len=");
        return messages;
    }

    std::string path_;
    int fd_;
};

Result<void> put(const std::string& path, const std::string& text) {
    int fd = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return errorf(ErrorCode::io, "cannot open %s: %s", path.c_str(), std::strerror(errno));
    bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    int error = errno;
    ::close(fd);
    if (!written)
        return errorf(ErrorCode::io, "cannot write %s: %s", path.c_str(), std::strerror(error));
    return {};
}

} // namespace

Result<KernelStart> read_kernel_start(const StartSource& source) {
    std::string folder = folder_of(source);
    DBK_TRY(std::string text, text_of(folder + "/trace"));
    DBK_TRY(std::string clock, text_of(folder + "/trace_clock"));
    formats::FtraceText trace = formats::read_ftrace(text);
    if (std::none_of(trace.events.begin(), trace.events.end(),
                     [](const auto& event) { return event.name.starts_with("initcall_"); }))
        return errorf(ErrorCode::not_found,
                      "%s/trace has no initcalls: the kernel was booted without "
                      "trace_event=initcall trace_clock=x86-tsc, or ftrace was used since",
                      folder.c_str());
    DBK_TRY(std::vector<int64_t> times, times_of(trace, clock_of(clock)));
    KernelStart start;
    add_initcalls(trace, times, start);
    Log(source.log).add(start);
    std::stable_sort(start.events.begin(), start.events.end(),
                     [](const auto& a, const auto& b) { return a.mono_ns < b.mono_ns; });
    // What it says first, it says when it is loaded.
    auto module = std::find_if(start.events.begin(), start.events.end(), [](const StartEvent& event) {
        return event.kind == StartEvent::Kind::message && event.text.starts_with("daybreak: ");
    });
    if (module == start.events.end()) {
        start.losses.push_back("when the module came is not known: its first message is not in the kernel's log");
        return start;
    }
    module->kind = StartEvent::Kind::module_loaded;
    start.events.erase(module + 1, start.events.end());
    return start;
}

Result<void> release_kernel_start(const StartSource& source) {
    std::string folder = folder_of(source);
    DBK_TRY_VOID(put(folder + "/set_event", "\n"));
    if (folder != source.tracefs) {
        if (::rmdir(folder.c_str()) != 0)
            return errorf(ErrorCode::io, "cannot remove %s: %s", folder.c_str(), std::strerror(errno));
        return {};
    }
    DBK_TRY_VOID(put(folder + "/trace", ""));
    return put(folder + "/trace_clock", "local");
}

} // namespace daybreak::cmd
