// SPDX-License-Identifier: Apache-2.0
//
// The process around the follower: options, signals, clocks, messages.
#include "cmd/commands/follow.hpp"

#include "base/file.hpp"
#include "cmd/notify.hpp"
#include "cmd/quantity.hpp"
#include "cmd/terminal.hpp"
#include "cmd/this_process.hpp"
#include "daybreak_version.hpp"
#include "recorder/follow/follower.hpp"
#include "recorder/host.hpp"
#include "recorder/jit_texts.hpp"

#include <cinttypes>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <set>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace daybreak::cmd {

namespace {

using base::ErrorCode;
using base::Result;

/// Of what has no addresses or data in it, for those who watch.
constexpr mode_t kStatusMode = 0644;
/// Less than a file takes: a suffix was left out, as in --max-size 1 for 1g.
constexpr uint64_t kBudgetBytesMin = 64 << 10;

/// The process: its signals come by a descriptor, so that waiting ends when one does.
class ProcessHost : public recorder::FollowHost {
public:
    ProcessHost(bool quiet, const FollowArguments& arguments, std::string status_path)
        : quiet_(quiet), folder_(arguments.folder), status_path_(std::move(status_path)),
          metrics_path_(arguments.metrics_file) {
        sigset_t signals;
        sigemptyset(&signals);
        for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1})
            sigaddset(&signals, number);
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        signals_ = base::ScopedFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    }

    formats::HostClocks clocks() override { return recorder::read_clocks(); }

    recorder::FollowEvents wait(uint64_t timeout_ns) override {
        // From the first wait on it is at work, be it that it waits for a ring.
        if (!std::exchange(is_ready_, true))
            notify_manager("READY=1");
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
        if (events.stop)
            notify_manager("STOPPING=1");
        return events;
    }

    Result<std::unique_ptr<recorder::DeviceApi>> open_device() override {
        return recorder::open_device();
    }

    void publish(const formats::RecorderStatus& status) override {
        formats::RecorderStatus mine = status;
        mine.pid = ::getpid();
        mine.tool_version = DAYBREAK_VERSION;
        mine.folder = folder_;
        mine.cost.cpu_seconds = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)) / 1e9;
        double passed = mine.updated_at - published_at_;
        if (published_at_ != 0 && passed > 0)
            mine.cost.cpu_per_second = (mine.cost.cpu_seconds - cpu_seconds_) / passed;
        published_at_ = mine.updated_at;
        cpu_seconds_ = mine.cost.cpu_seconds;
        put(status_path_, formats::status_json(mine));
        if (!metrics_path_.empty())
            put(metrics_path_, formats::status_metrics(mine));
        notify_manager("STATUS=" + mine.state + ": " + mine.disk.file);
    }

    void say(const std::string& line) override {
        if (!quiet_)
            complain(line);
    }

private:
    /// Replaces the file; why that fails is said once.
    void put(const std::string& path, const std::string& text) {
        Result<void> done = base::replace_text(path, text, kStatusMode);
        if (!done.ok() && failing_.insert(path).second)
            say(done.error().message() + "; recording goes on");
        else if (done.ok())
            failing_.erase(path);
    }

    bool quiet_;
    std::string folder_, status_path_, metrics_path_;
    std::set<std::string> failing_; ///< of the two, those that could not be written
    double published_at_ = 0, cpu_seconds_ = 0;
    base::ScopedFd signals_;
    bool is_ready_ = false;
};

Result<recorder::FollowOptions> follow_options(const FollowArguments& arguments) {
    recorder::FollowOptions options;
    recorder::SeriesOptions& series = options.series;
    series.columns = !arguments.rows;
    series.jit_texts = [](const auto& known) { return recorder::read_jit_texts(known); };
    DBK_TRY(series.total_bytes_max, parse_size("--max-size", arguments.max_size));
    if (series.total_bytes_max < kBudgetBytesMin)
        return base::errorf(ErrorCode::invalid, "--max-size: %s is less than a file takes, 64k",
                            arguments.max_size.c_str());
    if (!arguments.max_age.empty()) {
        DBK_TRY(series.age_ns_max, parse_time("--max-age", arguments.max_age));
    }
    if (!arguments.max_files.empty()) {
        DBK_TRY(series.files_max, parse_count("--max-files", arguments.max_files));
    }
    if (!arguments.file_size.empty()) {
        DBK_TRY(series.file_bytes_max, parse_size("--file-size", arguments.file_size));
    }
    if (!arguments.file_age.empty()) {
        DBK_TRY(series.file_age_ns_max, parse_time("--file-age", arguments.file_age));
    }
    DBK_TRY(options.sync_ns, parse_time("--sync", arguments.sync));
    DBK_TRY(options.trigger_before_ns, parse_time("--trigger-before", arguments.trigger_before));
    DBK_TRY(options.trigger_after_ns, parse_time("--trigger-after", arguments.trigger_after));
    options.header = recorder::read_host_facts(DAYBREAK_VERSION);
    options.wait = arguments.wait;
    options.rings = arguments.rings;
    return options;
}

/// Where the status goes: memory, so that a broken disk does not hold it up, if that can be had.
std::string status_path(const FollowArguments& arguments) {
    if (!arguments.status_file.empty())
        return arguments.status_file;
    (void)::mkdir("/run/daybreak", 0755);
    if (::access("/run/daybreak", W_OK) == 0)
        return kStatusPath;
    return arguments.folder + "/status.json";
}

Result<recorder::FollowSummary> follow(const FollowArguments& arguments,
                                       const recorder::FollowOptions& options, bool quiet) {
    if (auto device = recorder::open_device(); !device.ok() && !options.wait)
        return std::move(device).error(); // and no folder was made
    DBK_TRY(auto folder, recorder::open_folder(arguments.folder));
    // What is traced comes first.
    ::setpriority(PRIO_PROCESS, 0, 10);
    sched_param none = {};
    ::sched_setscheduler(0, SCHED_BATCH, &none);
    ProcessHost host(quiet, arguments, status_path(arguments));
    recorder::ProcSymbolSource symbols;
    return recorder::follow(host, *folder, symbols, options);
}

} // namespace

void add_follow_options(Command command, FollowArguments& arguments) {
    auto option = [&command](const char* names, auto& to, const char* type, const char* text) {
        command.add_option(names, to, text).one_value_each().type_name(type).group("Following");
    };
    auto flag = [&command](const char* names, bool& to, const char* text) {
        command.add_flag(names, to, text).group("Following");
    };
    option("--follow", arguments.folder, "DIR",
           "Go on recording into files in this folder; nothing is claimed or stopped");
    option("--max-size", arguments.max_size, "SIZE",
           "Of all files together; the oldest are removed (1g)");
    option("--max-age", arguments.max_age, "TIME", "Older files are removed (no limit)");
    option("--max-files", arguments.max_files, "N", "Of more files the oldest are removed");
    option("--file-size", arguments.file_size, "SIZE",
           "Of one file (a sixteenth of --max-size, at most 64m)");
    option("--file-age", arguments.file_age, "TIME", "Start another file after (no limit)");
    option("--sync", arguments.sync, "TIME",
           "How often all that is there is written to the disk, open segments too (1s)");
    option("--trigger-before", arguments.trigger_before, "TIME",
           "Files from so long before a trigger are removed last (30s)");
    option("--trigger-after", arguments.trigger_after, "TIME", "And from so long after it (5s)");
    option("--status-file", arguments.status_file, "FILE",
           "Where the recorder writes its status (/run/daybreak/recorder.json)");
    option("--metrics", arguments.metrics_file, "FILE",
           "The same for node_exporter's textfile collector");
    option("-s,--script", arguments.enabling.program.script, "FILE",
           "Enable this D program first; it goes on when the recorder ends");
    add_enabling_options(command, arguments.enabling, "Following");
    flag("--wait", arguments.wait, "Wait for the module and for something that records");
    option("--ring", arguments.rings, "ID", "Only this ring (repeatable)");
}

int run_follow(const FollowArguments& arguments, bool quiet) {
    Result<recorder::FollowOptions> options = follow_options(arguments);
    if (!options.ok())
        return misuse("record", options.error().message());
    auto programs = read_enablings(arguments.enabling);
    if (!programs)
        return static_cast<int>(Exit::failed);
    options->programs = std::move(*programs);
    Result<recorder::FollowSummary> summary = follow(arguments, *options, quiet);
    if (!summary.ok())
        return fail(summary.error());
    if (!quiet)
        complain(base::strprintf(
            "%s: %" PRIu64 " bytes written%s; read them with: daybreak report %s",
            arguments.folder.c_str(), summary->file_bytes,
            summary->has_losses() ? ", some segments are missing" : "", arguments.folder.c_str()));
    return static_cast<int>(summary->has_losses() ? Exit::losses : Exit::ok);
}

} // namespace daybreak::cmd
