// SPDX-License-Identifier: Apache-2.0
//
// daybreak record: claim the boot's recording and write it to a trace file.
#include "recorder/record.hpp"
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/follow.hpp"
#include "cmd/commands/record.hpp"
#include "cmd/progress.hpp"
#include "cmd/recording_summary.hpp"
#include "daybreak_version.hpp"
#include "formats/trace/file_reader.hpp"
#include "recorder/boot_units.hpp"
#include "recorder/follow/series.hpp"
#include "recorder/host.hpp"
#include "recorder/jit_texts.hpp"
#include "recorder/output.hpp"
#include "recorder/programs.hpp"

#include <algorithm>
#include <memory>
#include <sys/stat.h>

namespace daybreak::cmd {

namespace {

struct RecordArguments {
    std::string output_path;
    bool replace = false;
    bool claim = false;
    bool keep = false;
    bool quiet = false;
    FollowArguments follow;
};

/// Says what is wrong with the arguments; empty when nothing is.
std::string usage_error(const RecordArguments& arguments) {
    bool follow = !arguments.follow.folder.empty();
    if (arguments.claim + arguments.keep + follow != 1)
        return "record needs one of --claim, --keep and --follow";
    if (!follow && arguments.output_path.empty())
        return "record needs -o FILE";
    if (follow && !arguments.output_path.empty())
        return "record --follow takes no -o: the files are made in its folder";
    return "";
}

const char* step_text(recorder::RecordStep step) {
    switch (step) {
    case recorder::RecordStep::claiming:
        return "claiming";
    case recorder::RecordStep::stopping:
        return "stopping";
    case recorder::RecordStep::copying:
        return "copying";
    case recorder::RecordStep::symbols:
        return "reading symbols";
    case recorder::RecordStep::finishing:
        return "finishing";
    }
    return "";
}

void print_summary(const RecordArguments& arguments, const recorder::RecordSummary& summary) {
    complain_of_rings(summary.rings);
    if (summary.anonymous_left)
        complain(base::counted(summary.anonymous_left, "more ring") +
                 " to claim: record --claim again, with another -o (a folder takes all)");
    complain_of_symbols(summary, arguments.output_path);
    complain_of_file(summary.findings, arguments.output_path, summary.file_bytes,
                     summary.interrupted);
}

/// How long a claim waits for systemd's answer: 0.1 s are usual, 5 s were not enough on a machine
/// that had much else to do.
constexpr uint64_t kUnitsTimeoutNs = 20'000'000'000;

/// Asks systemd for its units.  It is asked before the claim, as the header is: with its times the
/// file explains the boot, without them it is whole all the same.
formats::BootUnits boot_units() {
    auto units = recorder::ask_boot_units(kUnitsTimeoutNs);
    if (units.ok())
        return std::move(*units);
    complain("without the times of systemd's units: " + units.error().message());
    return {};
}

recorder::RecordOptions options_of(const RecordArguments& arguments) {
    recorder::RecordOptions options;
    options.output_path = arguments.output_path;
    options.replace = arguments.replace;
    options.writer.columns = !arguments.follow.rows;
    options.keep = arguments.keep;
    options.header = recorder::read_host_facts(DAYBREAK_VERSION);
    if (arguments.claim)
        options.header.boot_units = boot_units();
    options.clocks = recorder::read_clocks;
    options.jit_texts = [](const auto& known) { return recorder::read_jit_texts(known); };
    return options;
}

base::Result<recorder::RecordSummary> record(recorder::DeviceApi& device,
                                             recorder::SymbolSource& symbols,
                                             const recorder::RecordOptions& options) {
    Progress progress("daybreak: recording");
    auto show = [&progress](recorder::RecordStep step, uint64_t done, uint64_t total) {
        progress.step(step_text(step), done, total);
    };
    return recorder::claim_and_record(device, symbols, options, show,
                                      [] { return interrupted.load(); });
}

/// Records what the arguments ask for into one file.
base::Result<bool> record_one(const RecordArguments& arguments) {
    DBK_TRY(auto device, recorder::open_device());
    recorder::ProcSymbolSource symbols;
    DBK_TRY(recorder::RecordSummary summary, record(*device, symbols, options_of(arguments)));
    if (!arguments.quiet)
        print_summary(arguments, summary);
    return summary.has_losses;
}

/// Returns the file for a program's recording in a folder: "FOLDER/NAME.dbrk" or a free name alike.
std::string program_path(const std::string& folder, std::string name) {
    std::replace(name.begin(), name.end(), '/', '_');
    return base::free_path(folder + (folder.ends_with('/') ? "" : "/") + name, ".dbrk");
}

/// Writes the kernel's symbols once, for all files of the folder.
base::Result<void> write_symbols(recorder::FolderApi& folder, recorder::SymbolSource& symbols,
                                 const formats::TraceHeader& header) {
    DBK_TRY(std::string text, symbols.kallsyms());
    formats::SymbolTable table;
    recorder::parse_kallsyms(text, table);
    DBK_TRY(base::Bytes content, recorder::symbols_file(header, table));
    return folder.replace(formats::symbols_file_name(recorder::boot_name(header.boot_uuid)),
                          content);
}

/// Returns whether the folder has symbols of this boot that files can refer to.
bool has_symbols(const recorder::FolderApi& folder, const formats::TraceHeader& header) {
    auto beside = recorder::symbols_beside(program_path(folder.path(), "any"),
                                           formats::boot_of(header.boot_uuid));
    return beside && !beside->symbols.empty();
}

bool is_folder(const std::string& path) {
    struct stat status = {};
    return path.ends_with('/') || (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode));
}

} // namespace

base::Result<void> claim_all(const std::string& folder_path, const std::vector<std::string>& names,
                             bool quiet, bool rows, ClaimedFiles& files) {
    RecordArguments arguments{
        .output_path = folder_path, .claim = true, .quiet = quiet, .follow = {.rows = rows}};
    DBK_TRY(auto device, recorder::open_device());
    DBK_TRY(std::vector<recorder::RunningProgram> programs, recorder::list_programs(*device));
    std::erase_if(programs, [&names](const auto& program) {
        bool is_named =
            names.empty() || std::find(names.begin(), names.end(), program.name) != names.end();
        return !is_named || (program.holder.flags & DBK_RING_HELD);
    });
    if (programs.empty()) {
        DBK_TRY(dbk_ioc_status status, device->status());
        return recorder::no_state(status);
    }
    DBK_TRY(auto folder, recorder::open_folder(arguments.output_path));
    recorder::ProcSymbolSource symbols;
    recorder::RecordOptions options = options_of(arguments);
    // Symbols that the folder has of this boot stay as they are: other files refer to them, and
    // these will.
    options.with_symbols = has_symbols(*folder, options.header);
    // First: with no room for them, or no right to read them, nothing is claimed.
    if (!options.with_symbols)
        DBK_TRY_VOID(write_symbols(*folder, symbols, options.header));
    for (const recorder::RunningProgram& program : programs) {
        options.ring_id = program.ring_id;
        options.output_path = program_path(folder->path(), program.name);
        DBK_TRY(recorder::RecordSummary summary, record(*device, symbols, options));
        files.losses = files.losses || summary.has_losses;
        files.paths.push_back(options.output_path);
        if (arguments.quiet)
            continue;
        complain_of_rings(summary.rings);
        complain_of_file(summary.findings, options.output_path, summary.file_bytes,
                         summary.interrupted);
    }
    return {};
}

void add_record(Command app, int& status) {
    auto arguments = std::make_shared<RecordArguments>();
    Command command =
        app.add_subcommand("record", "Take the boot's recording and write it to a trace file");
    command.add_flag("--claim", arguments->claim,
                     "Take the boot's recording: tracing stops, END fires, all of it is written");
    command.add_flag("--keep", arguments->keep,
                     "Copy what is there now; tracing goes on and nothing is taken");
    command.add_option("-o,--output", arguments->output_path,
                       "The trace file to write (.dbrk); a folder: all programs, a file each");
    command.add_flag("--replace", arguments->replace, kReplaceHelp).needs("--output");
    command.add_flag("--rows", arguments->follow.rows, kRowsHelp);
    command.add_flag("-q,--quiet", arguments->quiet, "No summary on standard error");
    add_follow_options(command, arguments->follow);
    command.footer("\nExamples: in the booted system, as root\n"
                   "  daybreak record --claim -o boot.dbrk && daybreak report boot.dbrk\n"
                   "  daybreak record --follow /var/log/daybreak --max-size 2g --wait");
    command.callback([arguments, &status] {
        std::string wrong = usage_error(*arguments);
        if (!wrong.empty()) {
            status = misuse("record", wrong);
            return;
        }
        if (!arguments->follow.folder.empty()) {
            status = run_follow(arguments->follow, arguments->quiet);
            return;
        }
        install_interrupt();
        auto losses = [&]() -> base::Result<bool> {
            if (!arguments->claim || !is_folder(arguments->output_path))
                return record_one(*arguments);
            ClaimedFiles files;
            DBK_TRY_VOID(claim_all(arguments->output_path, {}, arguments->quiet,
                                   arguments->follow.rows, files));
            return files.losses;
        }();
        status = losses.ok() ? static_cast<int>(*losses ? Exit::losses : Exit::ok)
                             : fail(losses.error());
    });
}

} // namespace daybreak::cmd
