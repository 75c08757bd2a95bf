// SPDX-License-Identifier: Apache-2.0
//
// daybreak extract: the recording of a machine that died, out of a dump of its memory.
#include "recorder/extract.hpp"
#include "base/counted.hpp"
#include "cmd/commands.hpp"
#include "cmd/progress.hpp"
#include "cmd/recording_summary.hpp"
#include "daybreak_version.hpp"

#include <cinttypes>
#include <ctime>
#include <memory>

namespace daybreak::cmd {

namespace {

struct ExtractArguments {
    bool replace = false, rows = false;
    std::string dump_path, output_path, boot, symbols_path, address;
    bool list = false;
    bool quiet = false;
};

/// Returns the number that the whole text is, in base 16, a leading 0x or not.
base::Result<uint64_t> parse_hex(const std::string& text, const char* option) {
    char* end = nullptr;
    errno = 0;
    uint64_t value = std::strtoull(text.c_str(), &end, 16);
    if (text.empty() || text[0] == '-' || *end != '\0' || errno != 0)
        return base::errorf(base::ErrorCode::invalid, "%s %s is not a hexadecimal number", option,
                            text.c_str());
    return value;
}

std::string wall_text(uint64_t wall_ns) {
    auto seconds = static_cast<time_t>(wall_ns / 1'000'000'000);
    struct tm local {};
    char text[64] = "unknown";
    if (wall_ns != 0 && localtime_r(&seconds, &local))
        std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local);
    return text;
}

std::string boot_text(const recorder::ExtractedBoot& boot) {
    std::string text =
        base::strprintf("%s  last seen %s  %s  %s in %s", formats::boot_name(boot.boot_id).c_str(),
                        wall_text(boot.last_wall_ns).c_str(),
                        boot.release.empty() ? "(kernel not known)" : boot.release.c_str(),
                        base::counted(boot.records, "record").c_str(),
                        base::counted(boot.segments, "segment").c_str());
    for (size_t i = 0; i < boot.rings.size(); i++)
        text += (i == 0 ? "  " : ", ") + boot.rings[i];
    return boot.crash.empty() ? text : text + "  " + boot.crash;
}

void print_summary(const ExtractArguments& arguments, const recorder::ExtractSummary& summary) {
    const formats::DumpFacts& dump = summary.dump;
    std::string line =
        base::strprintf("%s: %s, %" PRIu64 " MiB of memory", arguments.dump_path.c_str(),
                        formats::dump_format_text(dump.format), dump.bytes_present >> 20);
    if (dump.bytes_excluded != 0)
        line += base::strprintf(", %" PRIu64 " MiB left out of it", dump.bytes_excluded >> 20);
    if (dump.bytes_damaged != 0 || dump.cut)
        line += base::strprintf(", %" PRIu64 " KiB missing or damaged", dump.bytes_damaged >> 10);
    complain(line);
    complain("boot " + boot_text(summary.boots.front()));
    if (summary.boots.size() > 1)
        complain(base::strprintf("%zu more in the dump: extract --list", summary.boots.size() - 1));
    complain_of_rings(summary.rings);
    complain_of_file(summary.findings, arguments.output_path, summary.file_bytes);
}

base::Result<recorder::ExtractOptions> options_of(const ExtractArguments& arguments) {
    recorder::ExtractOptions options;
    options.tool_version = DAYBREAK_VERSION;
    options.symbols_path = arguments.symbols_path;
    if (!arguments.list)
        options.output_path = arguments.output_path;
    options.replace = arguments.replace;
    options.writer.columns = !arguments.rows;
    options.boot = arguments.boot;
    if (!arguments.address.empty()) {
        DBK_TRY(options.scan.raw_phys_addr, parse_hex(arguments.address, "--at"));
        if (options.scan.raw_phys_addr % formats::kDumpPageBytes != 0)
            return base::errorf(base::ErrorCode::invalid, "--at %s is not the start of a page",
                                arguments.address.c_str());
    }
    return options;
}

int extract(const ExtractArguments& arguments) {
    if (arguments.list == !arguments.output_path.empty())
        return misuse("extract", "extract needs -o FILE or --list, one of them");
    auto options = options_of(arguments);
    if (!options.ok())
        return misuse("extract", options.error().message());
    install_interrupt();
    Progress progress("looking through the dump", ProgressUnit::bytes);
    options->scan.progress = [&progress](uint64_t done, uint64_t total) {
        progress.update(done, total);
        return !interrupted.load();
    };
    auto input = formats::open_dump_input(arguments.dump_path);
    if (!input.ok())
        return fail(input.error());
    auto summary = recorder::extract(**input, *options);
    progress.clear();
    if (!summary.ok())
        return fail(std::move(summary).error().with_context(arguments.dump_path));
    if (arguments.list) {
        for (const recorder::ExtractedBoot& boot : summary->boots)
            put(boot_text(boot) + "\n");
        return static_cast<int>(finish_stdout());
    }
    if (!arguments.quiet)
        print_summary(arguments, *summary);
    return static_cast<int>(summary->has_losses ? Exit::losses : Exit::ok);
}

} // namespace

void add_extract(Command app, int& status) {
    auto arguments = std::make_shared<ExtractArguments>();
    Command command =
        app.add_subcommand("extract", "Take the recording out of a crash dump or a memory image");
    command
        .add_option("DUMP", arguments->dump_path,
                    "vmcore, /proc/vmcore, makedumpfile's or QEMU's dump, raw image; -: a pipe")
        .required();
    command.add_option("-o,--output", arguments->output_path, "The trace file to write (.dbrk)");
    command.add_flag("--replace", arguments->replace, kReplaceHelp).needs("--output");
    command.add_flag("--rows", arguments->rows, kRowsHelp);
    command.add_flag("--list", arguments->list, "Only list the boots that the dump has data of");
    command.add_option("--boot", arguments->boot,
                       "Take this boot, as its UUID begins (default: the one that died)");
    command.add_option("--symbols", arguments->symbols_path, kSymbolsHelp);
    command.add_option("--at", arguments->address,
                       "Physical address of a raw image's first byte, hexadecimal (0)");
    command.add_flag("-q,--quiet", arguments->quiet, "No summary on standard error");
    command.footer("\nExample: the last moments before a crash\n"
                   "  daybreak extract /var/crash/202611201544/dump.202611201544 -o crash.dbrk\n"
                   "  daybreak report crash.dbrk | tail");
    command.callback([arguments, &status] { status = extract(*arguments); });
}

} // namespace daybreak::cmd
