// SPDX-License-Identifier: Apache-2.0
//
// daybreak report: what dtrace(1) would have printed of a trace file.
#include "analyze/report.hpp"
#include "analyze/decode/time_span.hpp"
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/outside.hpp"
#include "cmd/progress.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/user_symbols.hpp"
#include "cmd/window_options.hpp"

#include <algorithm>
#include <memory>

namespace daybreak::cmd {

namespace {

constexpr int kJobsMax = 64; // each has two blocks of memory

struct ReportArguments {
    TraceFiles files;
    WindowOptions window;
    SymbolsArguments symbols;
    bool quiet = false;
    bool flowindent = false;
    bool temporal = false;
    bool drop_tags = false;
    bool system = false;
    bool all = false;
    bool json = false;
    analyze::UserNameStyle user_style;
    int jobs = 1;
};

/// What was asked for, else the recording's own window.
analyze::TimeWindow window_of(const formats::Recording& recording, const analyze::TimeWindow& asked,
                              bool all) {
    return asked.is_set() || all ? asked : analyze::own_window_of(recording);
}

/// What could be read of files without the description of a ring, and what helps.
std::string undescribed_text(const formats::Trace& trace) {
    const formats::TraceFileFacts& facts = trace.file;
    return trace.path + ": " + base::counted(facts.blocks_good, "block") + " of the file read, " +
           base::counted(facts.blocks_lost, "block") + " lost, " +
           base::counted(facts.bytes_cut, "byte") + " cut off; daybreak info " + trace.path +
           " lists the damage, and another file of that boot, named too, may have the description";
}

bool counts_in_engine(const formats::RingRecording& ring) {
    return ring.info.facts.aggregate == DBK_AGGREGATE_ENGINE;
}

analyze::ReportOptions options_of(const ReportArguments& arguments) {
    analyze::ReportOptions options;
    options.json = arguments.json;
    options.output.quiet = arguments.quiet;
    options.output.flowindent = arguments.flowindent;
    options.output.temporal = arguments.temporal;
    options.testing = is_testing();
    options.user_style = arguments.user_style;
    return options;
}

/// Takes the kernel's symbols that were given; returns what names the addresses of processes.
base::Result<UserNamesOfAll> users_of(const ReportArguments& arguments, formats::Trace& trace) {
    formats::Trace* const traces[] = {&trace};
    DBK_TRY(auto places, take_symbols(arguments.symbols, traces));
    UserNamesOfAll users;
    users.push_back(user_names_of(trace, std::move(places)));
    return users;
}

int report(const ReportArguments& arguments) {
    if (auto checked = check_window_options(arguments.window); !checked.ok())
        return fail_window("report", checked.error());
    TraceFiles files = arguments.files;
    files.options.skim = arguments.window.may_skim();
    files.options.jobs = static_cast<unsigned>(arguments.jobs);
    auto trace = read_trace_files(files);
    if (!trace.ok())
        return fail(trace.error());
    formats::Trace* const traces[] = {&*trace};
    auto users = users_of(arguments, *trace);
    if (!users.ok())
        return fail(users.error());
    auto window = apply_window_options(arguments.window, trace->recording);
    if (!window.ok())
        return fail_window("report", window.error());
    auto probes = probes_asked_for(arguments.window, trace->recording);
    if (!probes.ok())
        return fail_window("report", probes.error());
    analyze::ReportOptions options = options_of(arguments);
    options.window = window_of(trace->recording, *window, arguments.all);
    options.probes = *probes;
    options.symbols = &trace->symbols;
    options.users = (*users)[0].get();
    OutputFile output;
    TerminalSink sink({.drop_tags = arguments.drop_tags, .details = !options.testing});
    if (arguments.system)
        options.hooks = outside_hooks(output, [&sink] { sink.flush(); });
    Progress progress("daybreak: reporting", ProgressUnit::records);
    CleanSink clean(sink, progress);
    // How many of the records are in a window shows only in the end.
    const uint64_t all = options.window.is_set() ? 0 : trace->recording.records_present();
    options.progress = [&](uint64_t records) { progress.update(records, all); };
    options.interrupted = is_interrupted;
    install_interrupt();
    analyze::Report result = analyze::render_report(trace->recording, options, clean);
    progress.clear();
    sink.finish();
    const analyze::CompletenessNote& note = result.completeness;
    bool is_reported = !note.complete || !note.until.empty() || !note.end.empty() ||
                       !note.clock.empty() || !note.unmatched.empty();
    if (is_reported && !options.testing)
        complain(note.verdict());
    if (!note.complete && probes->is_set() && !options.testing)
        complain("what is missing is known per CPU, of all probes, not only of " +
                 probes->description());
    if (note.undescribed && !options.testing)
        complain(undescribed_text(*trace));
    if (!options.testing) {
        complain_of_unnamed(result.unnamed, traces);
        complain_of_missing(*users);
    }
    if (result.interrupted_after)
        complain("interrupted after " + base::counted(*result.interrupted_after, "record") +
                 " of " + std::to_string(trace->recording.records_present()));
    // What the engine counted has no records: that there are none says nothing of it.
    bool has_counts = (probes->is_set() || !arguments.window.cpus.empty()) &&
                      std::ranges::any_of(trace->recording.rings, counts_in_engine);
    bool is_part = note.records_present != 0 || !arguments.window.cpus.empty();
    bool is_damaged = trace->recording.all_findings().any_loss();
    if (result.records == 0 && is_part && !has_counts && !is_damaged && !result.interrupted_after)
        complain_of_nothing(options.window, *probes, arguments.window.cpus);
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    int status = result.status();
    return status == 0 && result.interrupted_after ? analyze::kStatusLosses : status;
}

} // namespace

void add_report(Command app, int& status) {
    auto arguments = std::make_shared<ReportArguments>();
    Command command = app.add_subcommand("report", "Print what dtrace(1) would have printed");
    add_trace_files(command, arguments->files, true);
    add_window_options(command, arguments->window);
    add_probe_option(command, arguments->window);
    add_symbols_options(command, arguments->symbols);
    add_user_style_options(command, arguments->user_style);
    command.add_flag("--all", arguments->all,
                     "Of a snapshot or a cut file all it holds, not only its window");
    command.add_flag("--json", arguments->json,
                     "A line of JSON for each record and each aggregation's key");
    command.add_flag("-q,--quiet", arguments->quiet, "Only what the program itself prints");
    command.add_flag("-F,--flowindent", arguments->flowindent, "Indent by entry and return");
    command.add_flag("--temporal", arguments->temporal,
                     "Committed speculations where their records were made, not where committed");
    command.add_flag("--drop-tags", arguments->drop_tags, "Tag each message about drops");
    command.add_flag("--system", arguments->system,
                     "Carry out system(), freopen() and ftruncate(): only of a recording whose "
                     "program you trust");
    command.add_option("-j,--jobs", arguments->jobs, "Threads that unpack; the output is the same")
        .type_name("N")
        .range(1, kJobsMax)
        .show_default();
    command.footer("\nExample: the two seconds after the first, aggregations included\n"
                   "  daybreak report --since +1 --until +3 boot.dbrk");
    command.callback([arguments, &status] { status = report(*arguments); });
}

} // namespace daybreak::cmd
