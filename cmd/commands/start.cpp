// SPDX-License-Identifier: Apache-2.0
//
// daybreak start and stop: a program that goes on in the module when the command has ended.
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/commands/enabling.hpp"
#include "cmd/recording_summary.hpp"
#include "daybreak_version.hpp"
#include "recorder/host.hpp"
#include "recorder/jit_texts.hpp"
#include "recorder/record.hpp"

#include <cinttypes>
#include <memory>

namespace daybreak::cmd {

namespace {

using base::Result;
using base::strprintf;

struct StopArguments {
    std::string name, output_path;
    bool replace = false, rows = false;
    bool discard = false;
    bool quiet = false;
};

/// Starts all of them or none: until they are let go, they end with the device's file.
Result<void> start(const std::vector<recorder::NamedProgram>& programs, bool quiet) {
    DBK_TRY(auto device, recorder::open_device());
    DBK_TRY_VOID(recorder::check_version(*device));
    std::vector<uint16_t> rings;
    for (const recorder::NamedProgram& program : programs) {
        DBK_TRY(uint16_t ring_id, device->enable(program.dof, program.name));
        rings.push_back(ring_id);
        if (std::string remark = device->remark(); !remark.empty())
            complain(remark);
    }
    for (uint16_t ring_id : rings)
        DBK_TRY_VOID(device->detach(ring_id));
    for (const recorder::NamedProgram& program : programs)
        if (!quiet)
            complain(strprintf("%s: started; end it with: daybreak stop %s", program.name.c_str(),
                               program.name.c_str()));
    return {};
}

int run_start(const EnablingArguments& arguments, bool quiet) {
    if (arguments.program.script.empty() == arguments.dof_files.empty())
        return misuse("start", "start needs a D program, or --dof FILE");
    auto programs = read_enablings(arguments);
    if (!programs)
        return static_cast<int>(Exit::failed);
    Result<void> done = start(*programs, quiet);
    return done.ok() ? static_cast<int>(Exit::ok) : fail(done.error());
}

/// Takes the program's recording, as `record --claim` does of the oldest.
Result<bool> stop_to_file(recorder::DeviceApi& device, const StopArguments& arguments) {
    DBK_TRY(recorder::RunningProgram program, recorder::find_free_program(device, arguments.name));
    recorder::ProcSymbolSource symbols;
    recorder::RecordOptions options;
    options.output_path = arguments.output_path;
    options.replace = arguments.replace;
    options.writer.columns = !arguments.rows;
    options.ring_id = program.ring_id;
    options.header = recorder::read_host_facts(DAYBREAK_VERSION);
    options.clocks = recorder::read_clocks;
    options.jit_texts = [](const auto& known) { return recorder::read_jit_texts(known); };
    DBK_TRY(recorder::RecordSummary summary, recorder::claim_and_record(device, symbols, options));
    if (!arguments.quiet) {
        complain_of_rings(summary.rings);
        complain_of_file(summary.findings, arguments.output_path, summary.file_bytes,
                         summary.interrupted);
    }
    return summary.has_losses;
}

Result<bool> stop(const StopArguments& arguments) {
    DBK_TRY(auto device, recorder::open_device());
    if (!arguments.output_path.empty())
        return stop_to_file(*device, arguments);
    DBK_TRY(recorder::RunningProgram program, recorder::find_free_program(*device, arguments.name));
    if ((program.holder.flags & DBK_RING_EMBEDDED) && !arguments.discard)
        return base::errorf(base::ErrorCode::invalid,
                            "%s came with the module and holds the recording of this boot: keep it "
                            "with -o FILE, or throw it away with --discard",
                            program.name.c_str());
    DBK_TRY(recorder::RunningProgram ended, recorder::stop_program(*device, program));
    if (!arguments.quiet)
        complain(ended.name + ": stopped after " + base::counted(ended.records, "record") +
                 "; its ring is gone, a recorder's files have what was written");
    return false;
}

} // namespace

void add_start(Command app, int& status) {
    auto arguments = std::make_shared<EnablingArguments>();
    auto quiet = std::make_shared<bool>(false);
    Command command =
        app.add_subcommand("start", "Start a program that goes on when the command has ended");
    command.add_option("PROGRAM", arguments->program.script, "The D program");
    add_enabling_options(command, *arguments);
    command.add_flag("-q,--quiet", *quiet, "Say nothing when it went well");
    command.footer(
        "\nAs root. The program records into rings of the module until `daybreak stop`.\n"
        "\nExample: who opens what, from now on\n"
        "  daybreak start opens.d && daybreak status\n"
        "  daybreak snapshot --last 30s -o opens.dbrk\n"
        "  daybreak stop opens");
    command.callback([arguments, quiet, &status] { status = run_start(*arguments, *quiet); });
}

void add_stop(Command app, int& status) {
    auto arguments = std::make_shared<StopArguments>();
    Command command = app.add_subcommand("stop", "End a program that goes on by itself");
    command.add_option("NAME", arguments->name, "Its name, or the number of its ring").required();
    command.add_option("-o,--output", arguments->output_path,
                       "Write what its ring holds to a trace file");
    command.add_flag("--replace", arguments->replace, kReplaceHelp).needs("--output");
    command.add_flag("--rows", arguments->rows, kRowsHelp);
    command.add_flag("--discard", arguments->discard, "Throw a boot's recording away without -o");
    command.add_flag("-q,--quiet", arguments->quiet, "No summary on standard error");
    command.footer("\nAs root. END fires, the ring goes, and its memory is free.\n"
                   "\nExample: end a program and keep what it recorded last\n"
                   "  daybreak stop opens -o opens.dbrk");
    command.callback([arguments, &status] {
        auto losses = stop(*arguments);
        status = losses.ok() ? static_cast<int>(*losses ? Exit::losses : Exit::ok)
                             : fail(losses.error());
    });
}

} // namespace daybreak::cmd
