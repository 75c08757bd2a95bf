// SPDX-License-Identifier: Apache-2.0
//
// daybreak snapshot: what was recorded last, while recording goes on.
#include "recorder/snapshot.hpp"
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/follow.hpp"
#include "cmd/quantity.hpp"
#include "cmd/progress.hpp"
#include "cmd/recording_summary.hpp"
#include "daybreak_version.hpp"
#include "recorder/host.hpp"
#include "recorder/jit_texts.hpp"
#include "recorder/row.hpp"

#include <cinttypes>
#include <csignal>
#include <ctime>
#include <fstream>
#include <memory>
#include <string_view>

namespace daybreak::cmd {

namespace {

/// As much as a file's name has room for after a host's.
constexpr size_t kTriggerBytesMax = 150;
/// Of triggers' names and of files': '@' and '\\' are in names of units, and scp takes what is
/// before ':' for a host.
constexpr std::string_view kTriggerMarks = "_-.@:\\", kFileMarks = "_-.@+";

struct SnapshotArguments {
    std::string output_path;
    bool replace = false, rows = false;
    std::string last;
    std::string trigger;
    std::string folder;
    std::string status_path = kStatusPath;
    bool pin = false;
    bool quiet = false;
};

bool is_one_of(char c, std::string_view marks) {
    return std::isalnum(static_cast<unsigned char>(c)) || marks.find(c) != marks.npos;
}

base::Result<void> check_trigger(const std::string& name) {
    bool good = name.size() <= kTriggerBytesMax && !name.starts_with('.');
    for (char c : name)
        good = good && is_one_of(c, kTriggerMarks);
    if (!good)
        return base::errorf(base::ErrorCode::invalid,
                            "--trigger %s: a name has at most %zu letters, digits and %s",
                            name.c_str(), kTriggerBytesMax, kTriggerMarks.data());
    return {};
}

/// Returns "snapshot-HOST-TIME.dbrk" or "snapshot-HOST-TIME+TRIGGER.dbrk", a name that is free;
/// without HOST where it has no name.
std::string default_name(const formats::TraceHeader& header, const std::string& trigger) {
    auto seconds = static_cast<time_t>(header.clocks.wall_ns / 1'000'000'000);
    struct tm local {};
    char time[32] = "";
    if (localtime_r(&seconds, &local))
        std::strftime(time, sizeof(time), "%Y%m%dT%H%M%S", &local);
    std::string stem = "snapshot-" + header.host() + (header.host().empty() ? "" : "-") + time;
    std::string suffix = (trigger.empty() ? "" : "+" + trigger) + ".dbrk";
    for (std::string* part : {&stem, &suffix})
        for (char& c : *part)
            c = is_one_of(c, kFileMarks) ? c : '_';
    return base::free_path(stem, suffix);
}

std::string seconds(uint64_t ns) {
    return base::strprintf("%" PRIu64 ".%03" PRIu64 " s", ns / 1'000'000'000,
                           ns / 1'000'000 % 1000);
}

void print_summary(const std::string& path, const recorder::RecordSummary& summary) {
    complain_of_rings(summary.rings, summary.window_to_ns != 0);
    uint64_t to = summary.window_to_ns, wanted = to - summary.window_from_ns;
    for (const formats::CpuCoverage& cpu : summary.uncovered) {
        uint64_t have = cpu.is_known && cpu.from_mono_ns < to ? to - cpu.from_mono_ns : 0;
        complain(base::strprintf("ring %u CPU %u: the ring holds only the last %s of %s",
                                 unsigned{cpu.ring_id}, unsigned{cpu.cpu}, seconds(have).c_str(),
                                 seconds(wanted).c_str()));
    }
    complain_of_symbols(summary, path);
    complain_of_file(summary.findings, path, summary.file_bytes, summary.interrupted);
}

base::Result<recorder::RecordSummary> snapshot(const SnapshotArguments& arguments, uint64_t last_ns,
                                               std::string& path_ret) {
    DBK_TRY(auto device, recorder::open_device());
    recorder::ProcSymbolSource symbols;
    recorder::SnapshotOptions options;
    options.record.header = recorder::read_host_facts(DAYBREAK_VERSION);
    options.record.clocks = recorder::read_clocks;
    options.record.jit_texts = [](const auto& known) { return recorder::read_jit_texts(known); };
    options.last_ns = last_ns;
    options.trigger = arguments.trigger;
    options.folder = arguments.folder.empty() ? recorder::recorder_folder(arguments.status_path)
                                              : arguments.folder;
    path_ret = arguments.output_path.empty()
                   ? default_name(options.record.header, arguments.trigger)
                   : arguments.output_path;
    options.record.output_path = path_ret;
    options.record.replace = arguments.replace;
    options.record.writer.columns = !arguments.rows;
    Progress progress("daybreak: snapshot");
    auto show = [&progress](recorder::RecordStep step, uint64_t done, uint64_t total) {
        progress.step(step == recorder::RecordStep::copying ? "copying" : "writing", done, total);
    };
    return recorder::take_snapshot(*device, symbols, options, show,
                                   [] { return interrupted.load(); });
}

/// Has the recorder of the status file keep its files around now.  Its number may be another
/// process' by now: only one of daybreak's own gets the signal.
base::Result<void> pin(const SnapshotArguments& arguments) {
    DBK_TRY(formats::RecorderStatus status, read_status(arguments.status_path));
    auto pid = static_cast<pid_t>(status.pid);
    std::string comm;
    std::ifstream(base::strprintf("/proc/%d/comm", pid)) >> comm;
    if (pid <= 1 || comm != "daybreak")
        return base::errorf(
            base::ErrorCode::not_found,
            "no recorder: pid %d of %s is not one any more; start one with: daybreak "
            "record --follow DIR",
            pid, arguments.status_path.c_str());
    if (::kill(pid, SIGUSR1) != 0)
        return base::errno_errorf("the recorder, pid %d, cannot be asked", pid);
    if (!arguments.quiet)
        complain("the recorder keeps its files around now, in " + status.folder);
    return {};
}

int run(const SnapshotArguments& arguments) {
    if (arguments.pin) {
        auto done = pin(arguments);
        return done.ok() ? static_cast<int>(Exit::ok) : fail(done.error());
    }
    uint64_t last_ns = 0;
    if (!arguments.last.empty()) {
        auto parsed = parse_time("--last", arguments.last);
        if (!parsed.ok() || *parsed == 0)
            return misuse("snapshot", parsed.ok() ? "--last: a time of 0 holds nothing"
                                                  : parsed.error().message());
        last_ns = *parsed;
    }
    if (auto checked = check_trigger(arguments.trigger); !checked.ok())
        return misuse("snapshot", checked.error().message());
    install_interrupt();
    std::string path;
    auto summary = snapshot(arguments, last_ns, path);
    if (!summary.ok())
        return fail(summary.error());
    if (!arguments.quiet)
        print_summary(path, *summary);
    return static_cast<int>(summary->has_losses ? Exit::losses : Exit::ok);
}

} // namespace

void add_snapshot(Command app, int& status) {
    auto arguments = std::make_shared<SnapshotArguments>();
    Command command = app.add_subcommand(
        "snapshot", "Write what was recorded last to a trace file; recording goes on");
    auto pin_only = command.add_flag("--pin", arguments->pin,
                                     "Copy nothing: the recorder keeps its files around now");
    command
        .add_option("--last", arguments->last,
                    "How far back, as 30s, 500ms or 5m; without it all that the rings hold")
        .excludes(pin_only);
    command
        .add_option("-o,--output", arguments->output_path,
                    "The trace file to write; else snapshot-HOST-TIME.dbrk here")
        .excludes(pin_only);
    command.add_flag("--replace", arguments->replace, kReplaceHelp).needs("--output");
    command.add_flag("--rows", arguments->rows, kRowsHelp);
    command.add_option("--trigger", arguments->trigger,
                       "Why, in a word: it stands in the file, and in its name without -o");
    command.add_option("--dir", arguments->folder,
                       "Where `record --follow` writes, to have from there what the rings do not "
                       "hold any more; else what the recorder's status file says");
    command.add_option("--status-file", arguments->status_path, "That status file").show_default();
    command.add_flag("-q,--quiet", arguments->quiet, "No summary on standard error");
    command.footer(
        "\nAs root. Exit status 3 when the window is not whole: the summary says what of\n"
        "it each CPU's ring still holds.\n\n"
        "Example: what happened in the last half minute\n"
        "  daybreak snapshot --last 30s -o slow.dbrk && daybreak report slow.dbrk");
    command.callback([arguments, &status] { status = run(*arguments); });
}

} // namespace daybreak::cmd
