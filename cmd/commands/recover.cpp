// SPDX-License-Identifier: Apache-2.0
//
// daybreak recover: what an earlier boot left in reserved memory becomes a trace file.
#include "recorder/recover.hpp"
#include "base/counted.hpp"
#include "base/file.hpp"
#include "cmd/commands.hpp"
#include "cmd/recording_summary.hpp"
#include "daybreak_version.hpp"
#include "formats/segment/piece.hpp"
#include "recorder/host.hpp"

#include <cinttypes>
#include <ctime>
#include <memory>

namespace daybreak::cmd {

namespace {

/// How many of the kernel's last lines are printed.
constexpr size_t kLogLines = 10;

struct RecoverArguments {
    bool replace = false, rows = false;
    std::string bank_path, output_path, symbols_path;
    int half = -1;
    bool list = false;
    bool if_any = false;
    bool sealed = false;
    bool quiet = false;
};

std::string wall_text(uint64_t wall_ns) {
    auto seconds = static_cast<time_t>(wall_ns / 1'000'000'000);
    struct tm local {};
    char text[64] = "an unknown time";
    if (wall_ns != 0 && localtime_r(&seconds, &local))
        std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &local);
    return text;
}

std::string half_text(const recorder::RecoveredHalf& half) {
    if (!half.problem.empty())
        return base::strprintf("half %u: %s", half.half, half.problem.c_str());
    std::string text = base::strprintf(
        "half %u: boot %s, kernel %s, last seen %s, %s in %s", half.half,
        formats::boot_name(half.facts.boot_id).c_str(), half.facts.release.c_str(),
        wall_text(half.last_wall_ns).c_str(), base::counted(half.records, "record").c_str(),
        base::counted(half.segments, "segment").c_str());
    for (size_t i = 0; i < half.rings.size(); i++)
        text += (i == 0 ? ", rings " : " ") + half.rings[i];
    return text + "; " + half.end;
}

/// The last lines of a log, each after four spaces.
std::string log_tail(const std::string& log) {
    size_t from = log.size();
    for (size_t lines = 0; from > 0 && lines <= kLogLines; from--)
        lines += log[from - 1] == '\n';
    if (from > 0)
        from++; // after the newline that was one too many
    std::string text;
    for (size_t at = std::min(from, log.size()); at < log.size();) {
        size_t end = std::min(log.find('\n', at), log.size());
        text += "    " + log.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return text;
}

void print_summary(const RecoverArguments& arguments, const recorder::RecoverSummary& summary) {
    for (const recorder::RecoveredHalf& half : summary.halves) {
        if (half.half != summary.written)
            continue;
        complain(half_text(half));
        if (!half.log.empty())
            complain("the kernel's last lines:\n" + log_tail(half.log));
    }
    complain_of_rings(summary.rings);
    complain_of_file(summary.findings, arguments.output_path, summary.file_bytes);
}

/// What this boot does with the bank; empty when it only reads it.
std::string bank_text(const dbk_ioc_bank& bank) {
    if (bank.use != DBK_BANK_USE_RECORDS)
        return {};
    return base::strprintf("half %u: this boot's, %" PRIu64 " of %" PRIu64
                           " KiB free; rings have %" PRIu64 " KiB here and %" PRIu64
                           " KiB in ordinary memory\n",
                           bank.half, bank.free_bytes >> 10, bank.data_bytes >> 10,
                           bank.inside_bytes >> 10, bank.outside_bytes >> 10);
}

base::Result<recorder::RecoverSummary> recover(const RecoverArguments& arguments) {
    recorder::RecoverOptions options;
    options.tool_version = DAYBREAK_VERSION;
    options.sealed_only = arguments.sealed;
    options.symbols_path = arguments.symbols_path;
    recorder::ProcSymbolSource kallsyms;
    recorder::RunningKernel running = {recorder::read_host_facts(DAYBREAK_VERSION), kallsyms};
    options.running = &running;
    if (!arguments.list)
        options.output_path = arguments.output_path;
    options.replace = arguments.replace;
    options.writer.columns = !arguments.rows;
    if (arguments.half >= 0)
        options.half = static_cast<uint32_t>(arguments.half);
    if (!arguments.bank_path.empty()) {
        DBK_TRY(base::Bytes image, base::read_file(arguments.bank_path));
        return recorder::recover_image(image, arguments.bank_path, options);
    }
    DBK_TRY(auto device, recorder::open_device());
    return recorder::recover_device(*device, options);
}

int run(const RecoverArguments& arguments) {
    if (arguments.list == !arguments.output_path.empty())
        return misuse("recover", "recover needs -o FILE or --list, one of them");
    auto summary = recover(arguments);
    if (!summary.ok() && arguments.if_any && summary.error().code() == base::ErrorCode::not_found) {
        complain(summary.error().message());
        return static_cast<int>(Exit::ok);
    }
    if (!summary.ok())
        return fail(summary.error());
    if (arguments.list) {
        put(bank_text(summary->bank));
        for (const recorder::RecoveredHalf& half : summary->halves)
            put(half_text(half) + "\n");
        return static_cast<int>(finish_stdout());
    }
    if (!arguments.quiet)
        print_summary(arguments, *summary);
    return static_cast<int>(summary->has_losses ? Exit::losses : Exit::ok);
}

} // namespace

void add_recover(Command app, int& status) {
    auto arguments = std::make_shared<RecoverArguments>();
    Command command = app.add_subcommand(
        "recover", "Take what an earlier boot left in reserved memory to a trace file");
    command.add_option("BANK", arguments->bank_path,
                       "An image of the bank, or of a half (default: /dev/daybreak's)");
    command.add_option("-o,--output", arguments->output_path, "The trace file to write (.dbrk)");
    command.add_flag("--replace", arguments->replace, kReplaceHelp).needs("--output");
    command.add_flag("--rows", arguments->rows, kRowsHelp);
    command.add_flag("--list", arguments->list, "Only print what the halves of the bank hold");
    command.add_option("--half", arguments->half, "Which half: 0 or 1 (default: the later one)")
        .range(0, 1);
    command.add_option("--symbols", arguments->symbols_path, kSymbolsHelp);
    command.add_flag("--sealed", arguments->sealed,
                     "Leave out segments without a checksum: open ones, after a hard reset");
    command.add_flag("--if-any", arguments->if_any,
                     "End with 0 when there is nothing to recover, for units of systemd");
    command.add_flag("-q,--quiet", arguments->quiet, "No summary on standard error");
    command.footer("\nExample: after the machine has died and booted again, as root\n"
                   "  daybreak recover -o died.dbrk && daybreak report died.dbrk | tail");
    command.callback([arguments, &status] { status = run(*arguments); });
}

} // namespace daybreak::cmd
