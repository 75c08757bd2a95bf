// SPDX-License-Identifier: Apache-2.0
//
// daybreak status: what is installed for the next boot, the programs at work, what the recorder
// does and costs, and what its rings hold.
#include "formats/status/status.hpp"
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/follow.hpp"
#include "cmd/commands/install.hpp"
#include "recorder/programs.hpp"

#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <ctime>
#include <memory>

namespace daybreak::cmd {

namespace {

using base::strprintf;
using formats::RecorderStatus;

struct StatusArguments {
    std::string path = kStatusPath;
    bool json = false;
    bool metrics = false;
    std::string root; ///< for tests: a folder that stands for the machine
};

/// As base::counted(), of the numbers that the status has.
std::string amount_text(double count, const char* one) {
    return strprintf("%.0f %s%s", count, one, count == 1 ? "" : "s");
}

std::string size_text(double bytes) {
    const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(units); unit++)
        bytes /= 1024;
    return strprintf(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

std::string duration_text(double seconds) {
    if (seconds < 120)
        return strprintf("%.0f s", seconds);
    if (seconds < 120 * 60)
        return strprintf("%.0f min", seconds / 60);
    return seconds < 48 * 3600 ? strprintf("%.0f h", seconds / 3600)
                               : strprintf("%.0f days", seconds / 86400);
}

double now_seconds() {
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Whether the process that wrote the status is still there.
bool is_running(const RecorderStatus& status) {
    auto pid = static_cast<pid_t>(status.pid);
    return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

void line(const char* label, const std::string& text) {
    put(strprintf("%-10s %s\n", label, text.c_str()));
}

void print_disk(const RecorderStatus& status) {
    const RecorderStatus::Disk& disk = status.disk;
    line("disk", strprintf("%s of %s in %s in %s%s", size_text(disk.used_bytes).c_str(),
                           size_text(disk.max_bytes).c_str(),
                           amount_text(disk.files, "file").c_str(), status.folder.c_str(),
                           disk.pinned_files == 0
                               ? ""
                               : strprintf(", %.0f kept for triggers", disk.pinned_files).c_str()));
    if (!disk.file.empty()) {
        std::string next = size_text(disk.rotation_bytes) + " more";
        if (disk.rotation_seconds >= 0)
            next += " or " + duration_text(disk.rotation_seconds);
        line("file", strprintf("%s, %s; the next after %s", disk.file.c_str(),
                               size_text(disk.file_bytes).c_str(), next.c_str()));
    }
    if (disk.failures != 0 || !status.last_error.empty())
        line("trouble",
             strprintf("%s failed%s%s", amount_text(disk.failures, "write").c_str(),
                       status.last_error.empty() ? "" : "; the last: ", status.last_error.c_str()));
}

void print_cost(const RecorderStatus::Cost& cost) {
    line("own cost", strprintf("%.2f %% of a CPU (%.1f ms a second), %s/s copied, %s/s written",
                               cost.cpu_per_second * 100, cost.cpu_per_second * 1000,
                               size_text(cost.copied_per_second).c_str(),
                               size_text(cost.written_per_second).c_str()));
}

void print_ring(const RecorderStatus::Ring& ring) {
    put(strprintf("\nring %.0f %s: %s, policy %s\n", ring.id, ring.name.c_str(),
                  ring.activity.c_str(), ring.policy.c_str()));
    put(strprintf("%5s %14s %11s %9s %9s %8s %8s %11s\n", "CPU", "RECORDS", "PER SECOND", "MEMORY",
                  "KEPT", "DROPS", "FAULTS", "NOT COPIED"));
    for (const RecorderStatus::Cpu& cpu : ring.cpus) {
        double drops = 0;
        for (const RecorderStatus::Drop& drop : cpu.drops)
            drops += drop.count;
        put(strprintf("%5.0f %14.0f %11.0f %9s %9s %8.0f %8.0f %11.0f\n", cpu.cpu, cpu.records,
                      cpu.records_per_second, size_text(cpu.bytes).c_str(),
                      duration_text(cpu.kept_seconds).c_str(), drops, cpu.errors, cpu.not_copied));
    }
    for (const RecorderStatus::Cpu& cpu : ring.cpus)
        for (const RecorderStatus::Drop& drop : cpu.drops)
            put(strprintf("      cpu %.0f: %s of cause %s\n", cpu.cpu,
                          amount_text(drop.count, "drop").c_str(), drop.cause.c_str()));
}

void print_status(const RecorderStatus& status, bool running) {
    double now = now_seconds();
    line("recorder", running ? strprintf("%s, pid %.0f, for %s, version %s", status.state.c_str(),
                                         status.pid, duration_text(now - status.started_at).c_str(),
                                         status.tool_version.c_str())
                             : strprintf("not running; pid %.0f was last seen %s ago", status.pid,
                                         duration_text(now - status.updated_at).c_str()));
    if (running && now - status.updated_at > 60)
        line("", strprintf("it has not said anything for %s",
                           duration_text(now - status.updated_at).c_str()));
    print_disk(status);
    print_cost(status.cost);
    if (!status.last_trigger.name.empty())
        line("trigger",
             strprintf("%s, %s ago; %.0f since the start", status.last_trigger.name.c_str(),
                       duration_text(now - status.last_trigger.at).c_str(), status.triggers));
    for (const RecorderStatus::Ring& ring : status.rings)
        print_ring(ring);
}

std::string holder_text(const dbk_ioc_holder& holder) {
    if (holder.flags & DBK_RING_HELD)
        return strprintf("%.15s[%u]", holder.comm, holder.pid);
    return holder.flags & DBK_RING_EMBEDDED ? "the module" : "-";
}

/// "5", or "5+2" with two whose expressions are.
std::string native_text(const recorder::RunningProgram& program) {
    if (program.native_ecbs + program.native_values == 0)
        return "-";
    return std::to_string(program.native_ecbs) +
           (program.native_values == 0 ? "" : "+" + std::to_string(program.native_values));
}

/// The programs at work, when there is a module and it may be asked.  Returns whether it is there.
bool print_programs() {
    auto device = recorder::open_device();
    if (!device.ok())
        return device.error().code() != base::ErrorCode::not_found;
    auto programs = recorder::list_programs(**device);
    if (!programs.ok()) {
        complain(programs.error().message());
        return true;
    }
    if (programs->empty()) {
        put("no program is at work\n\n");
        return true;
    }
    put(strprintf("%-20s %5s %-8s %8s %6s %11s %8s %8s  %s\n", "PROGRAM", "RING", "STATE", "SINCE",
                  "ECBS", "RECORDS", "DROPS", "NATIVE", "HELD BY"));
    double now = now_seconds();
    for (const recorder::RunningProgram& program : *programs) {
        uint64_t drops = 0;
        for (uint64_t count : program.drops)
            drops += count;
        double since = now - static_cast<double>(program.start_wall_ns) / 1e9;
        put(strprintf("%-20s %5u %-8s %8s %6zu %11" PRIu64 " %8" PRIu64 " %8s  %s\n",
                      program.name.c_str(), unsigned{program.ring_id}, program.activity.c_str(),
                      duration_text(since).c_str(), program.ecbs, program.records, drops,
                      native_text(program).c_str(), holder_text(program.holder).c_str()));
    }
    put("\n");
    return true;
}

int show(const StatusArguments& arguments) {
    bool is_installed = false, is_wrong = false, is_loaded = true;
    if (!arguments.json && !arguments.metrics) {
        is_installed = print_installation(arguments.root, is_wrong);
        is_loaded = print_programs();
    }
    auto status = read_status(arguments.path);
    bool no_recorder = !status.ok() && status.error().code() == base::ErrorCode::not_found;
    // A machine whose boots are traced needs no recorder.
    if (is_installed && no_recorder)
        return static_cast<int>(is_wrong ? Exit::failed : finish_stdout());
    if (no_recorder && !is_loaded)
        line("module", "not loaded (insmod daybreak.ko), and no boot is traced (daybreak install)");
    if (!status.ok())
        return fail(status.error());
    bool running = is_running(*status);
    if (arguments.json)
        put(formats::status_json(*status));
    else if (arguments.metrics)
        put(formats::status_metrics(*status));
    else
        print_status(*status, running);
    if (finish_stdout() != Exit::ok || !running)
        return static_cast<int>(Exit::failed);
    bool losses = status->cost.not_copied != 0 || status->disk.failures != 0;
    for (const RecorderStatus::Ring& ring : status->rings)
        for (const RecorderStatus::Cpu& cpu : ring.cpus)
            losses = losses || !cpu.drops.empty();
    return static_cast<int>(losses ? Exit::losses : Exit::ok);
}

} // namespace

base::Result<RecorderStatus> read_status(const std::string& path) {
    auto file = base::read_file(path);
    if (!file.ok() && file.error().code() == base::ErrorCode::not_found)
        return base::errorf(base::ErrorCode::not_found,
                            "no recorder: %s is not there; start one with: daybreak record "
                            "--follow DIR, or name its --status-file",
                            path.c_str());
    DBK_TRY(base::Bytes bytes, std::move(file));
    return formats::parse_status_json(
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path);
}

void add_status(Command app, int& status) {
    auto arguments = std::make_shared<StatusArguments>();
    Command command = app.add_subcommand(
        "status", "Traced boots, programs at work, what the recorder does and costs");
    command.add_option("--status-file", arguments->path, "The recorder's status file")
        .type_name("FILE")
        .show_default();
    Option json = command.add_flag("--json", arguments->json, "As JSON");
    command.add_flag("--metrics", arguments->metrics, "As Prometheus' text").excludes(json);
    command.add_option("--root", arguments->root, "A folder that stands for the machine, for tests")
        .group("");
    command.footer(
        "\nExit status: 0 all is well, 1 no recorder runs (where boots are traced: they are\n"
        "not as they were installed), 3 something was dropped.\n"
        "\nExample: how many seconds does each CPU hold?\n"
        "  daybreak status");
    command.callback([arguments, &status] { status = show(*arguments); });
}

} // namespace daybreak::cmd
