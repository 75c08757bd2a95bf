// SPDX-License-Identifier: Apache-2.0
//
// daybreak pack: trace files written again, smaller; or a window of one.
#include "recorder/pack.hpp"
#include "analyze/decode/small_ring.hpp"
#include "analyze/decode/time_span.hpp"
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/recording_summary.hpp"
#include "cmd/window_options.hpp"

#include <memory>
#include <optional>

namespace daybreak::cmd {

namespace {

constexpr int kLevelMax = 19; // zstd's levels above take a gigabyte to write

struct PackArguments {
    std::vector<std::string> paths;
    std::string output_path;
    bool replace = false, rows = false, quiet = false;
    int level = 0; ///< 0: not given
    WindowOptions window;
};

/// Returns what is wrong with the options; "" when nothing is.
std::string misuse_of(const PackArguments& arguments) {
    if (!arguments.output_path.empty() && arguments.paths.size() != 1)
        return "-o takes one FILE";
    if (arguments.window.has_time() && arguments.output_path.empty())
        return "--since and --until leave records out: name the file to write with -o, FILE stays "
               "as it is";
    if (auto checked = check_window_options(arguments.window); !checked.ok())
        return checked.error().message();
    return "";
}

/// Decides which segments the window leaves of the file.  Returns the exit status when it cannot.
std::optional<int> plan_cut(const PackArguments& arguments, recorder::Cut& cut) {
    formats::ReadOptions read_options;
    read_options.skim = true;
    auto trace = formats::read_traces(arguments.paths, read_options);
    if (!trace.ok())
        return fail(trace.error());
    auto window = apply_window_options(arguments.window, trace->recording);
    if (!window.ok())
        return fail_window("pack", window.error());
    recorder::CutOptions options;
    const analyze::TimeWindow before = analyze::cut_window_of(trace->recording);
    options.window = {std::max(window->since_ns(), before.since_ns()),
                      std::min(window->until_ns(), before.until_ns())};
    bool has_records = analyze::has_records(trace->recording, *window);
    if (!has_records && !trace->recording.all_findings().any_loss())
        complain_of_nothing(*window);
    // Of a ring of less than a segment the newest records say where those that count begin.
    for (const auto& [cpu, start] : analyze::small_ring_starts(trace->recording))
        options.whole_rings.insert(cpu.first);
    auto planned = recorder::Cut::plan(trace->recording, options);
    if (!planned.ok())
        return fail(planned.error());
    cut = std::move(*planned);
    return std::nullopt;
}

void report_cut(const std::string& path, const recorder::CutCounts& counts) {
    complain(path + ": " + base::counted(counts.records_kept, "record") +
             " of the window and from around it; " +
             base::counted(counts.records_left_out, "record is", "records are") +
             " left out, in " + base::counted(counts.segments_left_out, "segment"));
}

int pack(const PackArguments& arguments) {
    if (std::string text = misuse_of(arguments); !text.empty())
        return misuse("pack", text);
    recorder::PackOptions options;
    options.output_path = arguments.output_path;
    options.replace = arguments.replace;
    options.even_if_larger = arguments.rows || arguments.level != 0;
    options.writer.columns = !arguments.rows;
    if (arguments.level != 0)
        options.writer.zstd_level = options.writer.rows_level = arguments.level;
    recorder::Cut cut;
    if (arguments.window.has_time()) {
        if (std::optional<int> failed = plan_cut(arguments, cut))
            return *failed;
        options.cut = &cut;
    }
    Exit status = Exit::ok;
    for (const std::string& path : arguments.paths) {
        auto packed = recorder::pack(path, options);
        if (!packed.ok()) {
            fail(packed.error());
            status = Exit::failed;
        } else if (!arguments.quiet) {
            auto before = static_cast<unsigned long long>(packed->bytes_before >> 10);
            auto after = static_cast<unsigned long long>(packed->bytes_after >> 10);
            if (options.output_path.empty())
                complain(base::strprintf("%s: %llu KiB, %s %llu KiB", path.c_str(), before,
                                         packed->replaced ? "now" : "left: it would be", after));
            else
                complain(base::strprintf("%s: %llu KiB, %s has %llu KiB",
                                         options.output_path.c_str(), after, path.c_str(),
                                         before));
            if (options.cut)
                report_cut(arguments.output_path, options.cut->counts());
        }
    }
    return static_cast<int>(status);
}

} // namespace

void add_pack(Command app, int& status) {
    auto arguments = std::make_shared<PackArguments>();
    Command command = app.add_subcommand("pack", "Write trace files again, smaller");
    command.add_option("FILE", arguments->paths, "Trace files (.dbrk), each replaced when complete")
        .required();
    command.add_option("-o,--output", arguments->output_path,
                       "The trace file to write; FILE stays as it is");
    command.add_flag("--replace", arguments->replace, kReplaceHelp).needs("--output");
    command.add_option("--level", arguments->level, "Compression, 1 to 19 (default: 3, rows 1)")
        .range(1, kLevelMax);
    command.add_flag("--rows", arguments->rows, kRowsHelp);
    add_time_options(command, arguments->window);
    command.add_flag("-q,--quiet", arguments->quiet, "No sizes on standard error");
    command.footer("\nExample: old recordings, kept for long\n"
                   "  daybreak pack --level 19 /var/log/daybreak/*.dbrk\n"
                   "Example: the 5 seconds before the panic, in a small file\n"
                   "  daybreak pack --since panic-5s boot.dbrk -o end.dbrk");
    command.callback([arguments, &status] { status = pack(*arguments); });
}

} // namespace daybreak::cmd
