// SPDX-License-Identifier: Apache-2.0
//
// daybreak merge: partial states of replays, put together and printed as one replay would have.
#include "analyze/replay/merged.hpp"

#include "analyze/completeness.hpp"
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/debuginfod.hpp"
#include "cmd/outside.hpp"
#include "cmd/progress.hpp"
#include "cmd/terminal.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/user_symbols.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/metadata.hpp"

#include <algorithm>
#include <cinttypes>
#include <filesystem>
#include <memory>

namespace daybreak::cmd {

namespace {

using base::counted;

struct MergeArguments {
    std::vector<std::string> paths, folders;
    bool quiet = false, destructive = false, parts = false, debuginfod = false;
};

/// Lists what was merged: a line for each part.
void print_parts(const analyze::MergedStates& merged) {
    size_t host = 4, window = 6;
    auto host_text = [](const formats::PartIdentity& part) {
        return part.host.empty() ? formats::kNamelessHost : part.host;
    };
    for (const auto& [identity, part] : merged.parts()) {
        host = std::max(host, host_text(identity).size());
        window = std::max(window, formats::window_text(identity).size());
    }
    auto line = [&](const std::string& a, const std::string& boot, const std::string& b,
                    const std::string& records, const std::string& part) {
        put(base::strprintf("%-*s  %-18s  %-*s  %12s  %s\n", static_cast<int>(host), a.c_str(),
                            boot.c_str(), static_cast<int>(window), b.c_str(), records.c_str(),
                            part.c_str()));
    };
    line("HOST", "BOOT", "WINDOW", "RECORDS", "PART");
    std::vector<const formats::StatePart*> parts;
    for (const auto& [identity, part] : merged.parts())
        parts.push_back(&part);
    std::sort(parts.begin(), parts.end(), [](const auto* a, const auto* b) {
        auto key = [](const formats::StatePart& part) {
            return std::tie(part.identity.host, part.identity.boot_id, part.identity.since_ns,
                            part.begin_ns, part.identity.digest);
        };
        return key(*a) < key(*b);
    });
    for (const formats::StatePart* part : parts)
        line(host_text(part->identity), formats::boot_name(part->identity.boot_id),
             formats::window_text(part->identity), std::to_string(part->records),
             formats::digest_text(part->identity.digest));
}

/// Says what is missing.  Returns whether anything is.
bool complain_of_coverage(const formats::CoverageReport& coverage,
                          const analyze::MergedStates& merged) {
    if (merged.repeated() != 0)
        complain(counted(merged.repeated(), "part came again, and counts",
                         "parts came again, and count") +
                 " once");
    for (const std::string& note : coverage.notes)
        complain(note);
    for (const std::string& missing : coverage.missing)
        complain(missing);
    if (coverage.records == 0)
        complain("the parts have no record: nothing was recorded, or not in their windows");
    if (merged.unnamed() != 0)
        complain(counted(merged.unnamed(), "address is", "addresses are") +
                 " another symbol in each part, and has no name");
    return !coverage.missing.empty();
}

int merge(const MergeArguments& arguments) {
    analyze::ObjectPlaces places;
    places.folders = arguments.folders;
    auto fetch = debuginfod_fetch(arguments.debuginfod);
    if (!fetch.ok())
        return fail(fetch.error());
    places.fetch = std::move(*fetch);
    analyze::ObjectFiles objects(std::move(places));
    analyze::MergedStates merged(&objects);
    install_interrupt();
    Progress progress("daybreak: merging");
    constexpr uint64_t kReadings = 3; // of each file: parts, symbols, states
    uint64_t read = 0;
    auto has_read = [&] { progress.update(++read, kReadings * arguments.paths.size()); };
    for (const std::string& path : arguments.paths) {
        if (auto added = merged.add(path); !added.ok())
            return fail(added.error());
        has_read();
    }
    auto coverage = merged.coverage();
    if (!coverage.ok())
        return fail(coverage.error());
    if (coverage->parts == 0)
        return fail(base::errorf(base::ErrorCode::not_found, "the files have no part: nothing was "
                                                             "replayed"));
    std::optional<int> status;
    if (arguments.parts) {
        print_parts(merged);
    } else {
        analyze::ReportOptions options;
        options.testing = is_testing();
        options.output.quiet = arguments.quiet;
        TerminalSink sink({.details = !options.testing});
        OutputFile output;
        if (arguments.destructive)
            options.hooks = outside_hooks(output, [&sink] { sink.flush(); });
        CleanSink clean(sink, progress);
        auto run =
            merged.run(std::move(options), clean, {[] { return interrupted.load(); }, has_read});
        progress.clear();
        sink.finish();
        if (!run.ok())
            return fail(run.error());
        status = *run;
    }
    if (!is_testing())
        complain_of_missing(objects.missing());
    bool is_missing = complain_of_coverage(*coverage, merged);
    if (!arguments.parts && merged.added() != merged.parts().size()) {
        complain("interrupted after " + counted(merged.added(), "part") + " of " +
                 std::to_string(merged.parts().size()));
        is_missing = true;
    }
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    if (status.value_or(0) != 0)
        return *status;
    bool is_window = std::ranges::any_of(merged.parts(), [](const auto& part) {
        return part.first.since_ns != 0 || part.first.until_ns != UINT64_MAX;
    });
    if (coverage->records == 0 && is_window)
        return static_cast<int>(Exit::failed);
    return is_missing ? analyze::kStatusLosses : 0;
}

} // namespace

void add_merge(Command app, int& status) {
    auto arguments = std::make_shared<MergeArguments>();
    Command command =
        app.add_subcommand("merge", "Put partial states of replays together, and print the answer");
    command
        .add_option("STATES", arguments->paths, "Files that replay --partial wrote, in any order")
        .required();
    command.add_flag("-q,--quiet", arguments->quiet, "Print only what the program prints");
    command.add_flag("-w,--destructive", arguments->destructive, "Allow destructive actions");
    command
        .add_option("--symbols", arguments->folders,
                    "Folders of programs and libraries, for functions that no part has names of")
        .one_value_each()
        .check([](const std::string& path) -> std::string {
            std::error_code ignored;
            return std::filesystem::is_directory(path, ignored) ? "" : path + " is not a folder";
        })
        .type_name("FOLDER");
    add_debuginfod_option(command, arguments->debuginfod);
    command.add_flag("--parts", arguments->parts, "List the parts instead of the answer");
    command.footer(
        "\nExample: one question to the recordings of two machines, asked where they are\n"
        "  daybreak replay -s q.d --partial web-1.states web-1.dbrk\n"
        "  daybreak replay -s q.d --partial web-2.states web-2.dbrk\n"
        "  daybreak merge web-1.states web-2.states");
    command.callback([arguments, &status] { status = merge(*arguments); });
}

} // namespace daybreak::cmd
