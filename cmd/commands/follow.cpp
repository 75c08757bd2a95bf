// SPDX-License-Identifier: Apache-2.0
//
// The process around the follower: options, signals, clocks, messages.
#include "cmd/commands/follow.hpp"

#include "cmd/terminal.hpp"
#include "daybreak_version.hpp"
#include "recorder/follow/follower.hpp"
#include "recorder/host.hpp"

#include <charconv>
#include <cinttypes>
#include <csignal>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::Result;

/// Returns the number and its suffix's factor multiplied.
Result<uint64_t> parse_scaled(const std::string& option, const std::string& text,
                              std::initializer_list<std::pair<const char*, uint64_t>> units) {
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    std::string suffix(end, text.data() + text.size());
    for (char& c : suffix)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    uint64_t product = 0;
    for (const auto& [unit, factor] : units)
        if (error == std::errc() && suffix == unit &&
            !__builtin_mul_overflow(value, factor, &product))
            return product;
    return base::errorf(ErrorCode::invalid, "%s: '%s' is no %s", option.c_str(), text.c_str(),
                        units.begin()->first[0] == 'n' ? "time (30s, 5m, 2h, 7d)"
                                                       : "size (64m, 2g)");
}

Result<uint64_t> parse_size(const std::string& option, const std::string& text) {
    return parse_scaled(option, text,
                        {{"b", 1},
                         {"", 1},
                         {"k", 1u << 10},
                         {"m", 1u << 20},
                         {"g", 1u << 30},
                         {"t", uint64_t{1} << 40}});
}

Result<uint64_t> parse_time(const std::string& option, const std::string& text) {
    constexpr uint64_t kSecond = 1'000'000'000;
    return parse_scaled(option, text,
                        {{"ns", 1},
                         {"us", 1000},
                         {"ms", 1'000'000},
                         {"s", kSecond},
                         {"", kSecond},
                         {"m", 60 * kSecond},
                         {"h", 3600 * kSecond},
                         {"d", 86400 * kSecond}});
}

/// The process: its signals come by a descriptor, so that waiting ends when one does.
class ProcessHost : public recorder::FollowHost {
public:
    explicit ProcessHost(bool quiet) : quiet_(quiet) {
        sigset_t signals;
        sigemptyset(&signals);
        for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1})
            sigaddset(&signals, number);
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        signals_ = base::ScopedFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    }

    formats::HostClocks clocks() override { return recorder::read_clocks(); }

    recorder::FollowEvents wait(uint64_t timeout_ns) override {
        pollfd wanted = {signals_.get(), POLLIN, 0};
        timespec timeout = {static_cast<time_t>(timeout_ns / 1'000'000'000),
                            static_cast<long>(timeout_ns % 1'000'000'000)};
        recorder::FollowEvents events;
        if (::ppoll(&wanted, 1, &timeout, nullptr) <= 0)
            return events;
        signalfd_siginfo signal = {};
        while (::read(signals_.get(), &signal, sizeof(signal)) == sizeof(signal)) {
            events.stop |= signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGINT;
            events.rotate |= signal.ssi_signo == SIGHUP;
            events.trigger |= signal.ssi_signo == SIGUSR1;
        }
        return events;
    }

    Result<std::unique_ptr<recorder::DeviceApi>> open_device() override {
        return recorder::open_device();
    }

    void say(const std::string& line) override {
        if (!quiet_)
            complain(line);
    }

private:
    bool quiet_;
    base::ScopedFd signals_;
};

Result<recorder::FollowOptions> follow_options(const FollowArguments& arguments) {
    recorder::FollowOptions options;
    recorder::SeriesOptions& series = options.series;
    DBK_TRY(series.total_bytes_max, parse_size("--max-size", arguments.max_size));
    if (!arguments.max_age.empty()) {
        DBK_TRY(series.age_ns_max, parse_time("--max-age", arguments.max_age));
    }
    if (!arguments.max_files.empty()) {
        DBK_TRY(series.files_max, parse_scaled("--max-files", arguments.max_files, {{"", 1}}));
    }
    if (!arguments.file_size.empty()) {
        DBK_TRY(series.file_bytes_max, parse_size("--file-size", arguments.file_size));
    }
    if (!arguments.file_age.empty()) {
        DBK_TRY(series.file_age_ns_max, parse_time("--file-age", arguments.file_age));
    }
    DBK_TRY(options.sync_ns, parse_time("--sync", arguments.sync));
    options.header = recorder::read_host_facts(DAYBREAK_VERSION);
    options.wait = arguments.wait;
    options.rings = arguments.rings;
    return options;
}

Result<recorder::FollowSummary> follow(const FollowArguments& arguments,
                                       const recorder::FollowOptions& options, bool quiet) {
    DBK_TRY(auto folder, recorder::open_folder(arguments.folder));
    // What is traced comes first.
    ::setpriority(PRIO_PROCESS, 0, 10);
    sched_param none = {};
    ::sched_setscheduler(0, SCHED_BATCH, &none);
    ProcessHost host(quiet);
    recorder::ProcSymbolSource symbols;
    return recorder::follow(host, *folder, symbols, options);
}

} // namespace

void add_follow_options(CLI::App& command, FollowArguments& arguments) {
    const char* group = "Following";
    command
        .add_option("--follow", arguments.folder,
                    "Go on recording into files in this folder; nothing is claimed or stopped")
        ->type_name("DIR")
        ->group(group);
    command
        .add_option("--max-size", arguments.max_size, "Of all files together; the oldest go (1g)")
        ->type_name("SIZE")
        ->group(group);
    command.add_option("--max-age", arguments.max_age, "Older files go (no limit)")
        ->type_name("TIME")
        ->group(group);
    command.add_option("--max-files", arguments.max_files, "More files than that: the oldest go")
        ->type_name("N")
        ->group(group);
    command
        .add_option("--file-size", arguments.file_size,
                    "Of one file (a sixteenth of --max-size, at most 64m)")
        ->type_name("SIZE")
        ->group(group);
    command.add_option("--file-age", arguments.file_age, "Start another file after (no limit)")
        ->type_name("TIME")
        ->group(group);
    command
        .add_option("--sync", arguments.sync,
                    "How often all that is there is written to the disk, open segments too (1s)")
        ->type_name("TIME")
        ->group(group);
    command
        .add_flag("--wait", arguments.wait, "Wait for the module and for something that records")
        ->group(group);
    command.add_option("--ring", arguments.rings, "Only this ring (repeatable)")
        ->type_name("ID")
        ->group(group);
}

int run_follow(const FollowArguments& arguments, bool quiet) {
    Result<recorder::FollowOptions> options = follow_options(arguments);
    if (!options.ok()) {
        complain(options.error().message() + " (daybreak record --help says more)");
        return static_cast<int>(Exit::usage);
    }
    Result<recorder::FollowSummary> summary = follow(arguments, *options, quiet);
    if (!summary.ok())
        return fail(summary.error());
    if (!quiet)
        complain(base::strprintf("%s: %" PRIu64 " segments, %" PRIu64 " bytes written%s; read them "
                                 "with: daybreak report %s",
                                 arguments.folder.c_str(), summary->segments, summary->file_bytes,
                                 summary->has_losses() ? ", some were not copied in time" : "",
                                 arguments.folder.c_str()));
    return static_cast<int>(summary->has_losses() ? Exit::losses : Exit::ok);
}

} // namespace daybreak::cmd
