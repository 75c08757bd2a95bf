// SPDX-License-Identifier: Apache-2.0
//
// daybreak record: claim the boot's recording and write it to a trace file.
#include "recorder/record.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/follow.hpp"
#include "cmd/recording_summary.hpp"
#include "daybreak_version.hpp"
#include "recorder/host.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

struct RecordArguments {
    std::string output_path;
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
        return "claiming the anonymous state";
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
        complain(base::strprintf("%u more ring%s to claim: record --claim again, with another -o",
                                 summary.anonymous_left, summary.anonymous_left == 1 ? "" : "s"));
    complain_of_file(summary.findings, arguments.output_path, summary.file_bytes,
                     summary.interrupted);
}

base::Result<recorder::RecordSummary> record(const RecordArguments& arguments) {
    DBK_TRY(auto device, recorder::open_device());
    recorder::ProcSymbolSource symbols;
    recorder::RecordOptions options;
    options.output_path = arguments.output_path;
    options.keep = arguments.keep;
    options.header = recorder::read_host_facts(DAYBREAK_VERSION);
    options.clocks = recorder::read_clocks;
    Progress progress("daybreak: recording");
    auto show = [&progress](recorder::RecordStep step, uint64_t done, uint64_t total) {
        progress.step(step_text(step), done, total);
    };
    return recorder::claim_and_record(*device, symbols, options, show,
                                      [] { return interrupted.load(); });
}

} // namespace

void add_record(CLI::App& app, int& status) {
    auto arguments = std::make_shared<RecordArguments>();
    CLI::App* command =
        app.add_subcommand("record", "Take the boot's recording and write it to a trace file");
    command->add_flag("--claim", arguments->claim,
                      "Take the anonymous state: tracing stops, END fires, all of it is written");
    command->add_flag("--keep", arguments->keep,
                      "Copy what is there now; tracing goes on and nothing is taken");
    command->add_option("-o,--output", arguments->output_path, "The trace file to write (.dbrk)");
    command->add_flag("-q,--quiet", arguments->quiet, "No summary on standard error");
    add_follow_options(*command, arguments->follow);
    command->footer("\nExamples: in the booted system, as root\n"
                    "  daybreak record --claim -o boot.dbrk && daybreak report boot.dbrk\n"
                    "  daybreak record --follow /var/lib/daybreak --max-size 2g --wait");
    command->callback([arguments, &status] {
        std::string wrong = usage_error(*arguments);
        if (!wrong.empty()) {
            complain(wrong + " (daybreak record --help says more)");
            status = static_cast<int>(Exit::usage);
            return;
        }
        if (!arguments->follow.folder.empty()) {
            status = run_follow(arguments->follow, arguments->quiet);
            return;
        }
        install_interrupt();
        auto summary = record(*arguments);
        if (!summary.ok()) {
            status = fail(summary.error());
            return;
        }
        if (!arguments->quiet)
            print_summary(*arguments, *summary);
        status = static_cast<int>(summary->has_losses ? Exit::losses : Exit::ok);
    });
}

} // namespace daybreak::cmd
