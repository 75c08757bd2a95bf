// SPDX-License-Identifier: Apache-2.0
//
// daybreak pack: trace files written again, smaller.
#include "recorder/pack.hpp"
#include "cmd/commands.hpp"
#include "cmd/recording_summary.hpp"

#include <memory>

namespace daybreak::cmd {

namespace {

constexpr int kLevelMax = 19; // zstd's levels above take a gigabyte to write

struct PackArguments {
    std::vector<std::string> paths;
    std::string output_path;
    bool replace = false, rows = false, quiet = false;
    int level = 0; ///< 0: not given
};

int pack(const PackArguments& arguments) {
    if (!arguments.output_path.empty() && arguments.paths.size() != 1)
        return misuse("pack", "-o takes one FILE");
    recorder::PackOptions options;
    options.output_path = arguments.output_path;
    options.replace = arguments.replace;
    options.even_if_larger = arguments.rows || arguments.level != 0;
    options.writer.columns = !arguments.rows;
    if (arguments.level != 0)
        options.writer.zstd_level = arguments.level;
    Exit status = Exit::ok;
    for (const std::string& path : arguments.paths) {
        auto packed = recorder::pack(path, options);
        if (!packed.ok()) {
            fail(packed.error());
            status = Exit::failed;
        } else if (!arguments.quiet) {
            complain(base::strprintf("%s: %llu KiB, %s %llu KiB", path.c_str(),
                                     static_cast<unsigned long long>(packed->bytes_before >> 10),
                                     packed->replaced ? "now" : "left: it would be",
                                     static_cast<unsigned long long>(packed->bytes_after >> 10)));
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
    command.add_option("--level", arguments->level, "Compression, 1 to 19 (default: 3)")
        .range(1, kLevelMax);
    command.add_flag("--rows", arguments->rows, kRowsHelp);
    command.add_flag("-q,--quiet", arguments->quiet, "No sizes on standard error");
    command.footer("\nExample: old recordings, kept for long\n"
                   "  daybreak pack --level 19 /var/log/daybreak/*.dbrk");
    command.callback([arguments, &status] { status = pack(*arguments); });
}

} // namespace daybreak::cmd
