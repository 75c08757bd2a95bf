// SPDX-License-Identifier: Apache-2.0
//
// daybreak verify: a recording read to the last record, and all that it does not have.
#include "analyze/verify.hpp"
#include "analyze/info_file.hpp"
#include "analyze/report.hpp"
#include "base/counted.hpp"
#include "cmd/asked_recording.hpp"
#include "cmd/commands.hpp"
#include "cmd/progress.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/user_symbols.hpp"

#include <algorithm>
#include <cinttypes>
#include <filesystem>
#include <memory>
#include <thread>

namespace daybreak::cmd {

namespace {

using base::counted;

constexpr unsigned kThreadsMax = 8;

unsigned threads_to_compare() {
    return std::clamp(std::thread::hardware_concurrency(), 2u, kThreadsMax);
}

/// What two ways of reading the same files printed.
struct Digests {
    analyze::OutputDigest all;
    analyze::OutputDigest text; ///< without messages
    std::string why_not;        ///< nothing could be printed; "": it was
};

Digests digests_of_report(const formats::Trace& trace, Progress& progress, std::string_view step) {
    analyze::ReportOptions options;
    const uint64_t all = trace.recording.records_present();
    options.progress = [&](uint64_t records) { progress.step(step, records, all); };
    options.symbols = &trace.symbols;
    auto users = user_names_of(trace);
    options.users = users.get();
    analyze::DigestSink sink;
    analyze::render_report(trace.recording, options, sink);
    return {sink.all(), sink.text(), ""};
}

Digests digests_of_replay(const AskedRecording& recording, Progress& progress,
                          std::string_view step) {
    analyze::DigestSink sink;
    AskOptions options;
    options.sink = &sink;
    options.progress = [&](uint64_t records, uint64_t all) { progress.step(step, records, all); };
    auto answer = recording.ask_stored(options);
    return {sink.all(), sink.text(), answer.ok() ? "" : answer.error().message()};
}

/// The same twice, or the text that differs.
struct Readings {
    std::string reported, replayed;
    bool are_same = false; ///< with one thread and with many
};

/// "281 bytes, CRC-32C 1a2b3c4d, with 1 thread; with 2 the same"
std::string digests_text(const analyze::OutputDigest& alone, const analyze::OutputDigest& together,
                         unsigned threads) {
    auto text = [](const analyze::OutputDigest& digest) {
        return counted(digest.bytes, "byte") + base::strprintf(", CRC-32C %08x", digest.crc32c);
    };
    return text(alone) + ", with 1 thread; with " + std::to_string(threads) + " " +
           (alone == together ? "the same" : text(together));
}

/// Reports and replays both.
Readings compare(const AskedRecording& alone, const AskedRecording& together, unsigned threads,
                 Progress& progress) {
    Readings readings;
    Digests report = digests_of_report(alone.trace(), progress, "reporting"),
            report_again = digests_of_report(together.trace(), progress, "reporting again");
    readings.reported = digests_text(report.all, report_again.all, threads);
    Digests replay = digests_of_replay(alone, progress, "replaying"),
            replay_again = digests_of_replay(together, progress, "replaying again");
    readings.replayed =
        replay.why_not.empty()
            ? digests_text(replay.text, replay_again.text, threads) +
                  (replay.text == report.text ? ", as reported" : ", not as reported")
            : "not: " + replay.why_not;
    // Messages of a replay have addresses of this process in them: "invalid address (0x...)".
    readings.are_same = report.all == report_again.all && replay.text == replay_again.text;
    return readings;
}

std::string blocks_text(const formats::Trace& trace) {
    uint64_t good = 0, lost = 0, bytes = 0, cut = 0;
    for (const formats::TraceFile& file : trace.files) {
        good += file.facts.blocks_good;
        lost += file.facts.blocks_lost;
        bytes += file.facts.file_bytes;
        cut += file.facts.bytes_cut + file.facts.bytes_skipped;
    }
    std::string text = counted(good, "block") + " of " + counted(trace.files.size(), "file") +
                       ", " + analyze::bytes_text(bytes);
    if (lost == 0 && cut == 0)
        return text + ": each checksum holds";
    return text + "; " + counted(lost, "block") + " lost, " + counted(cut, "byte") +
           " that belong to none";
}

int verify(const TraceFiles& files) {
    TraceFiles one_thread = files, many_threads = files;
    one_thread.options.jobs = 1;
    many_threads.options.jobs = threads_to_compare();
    for (const std::string& path : files.paths)
        if (std::error_code error; std::filesystem::exists(path, error) &&
                                   !std::filesystem::is_regular_file(path, error) &&
                                   !std::filesystem::is_directory(path, error))
            return misuse("verify", path +
                                        " is not a regular file; what is verified is read twice: "
                                        "write it to a file first");
    auto trace = read_trace_files(one_thread);
    if (!trace.ok())
        return fail(trace.error());
    TerminalSink sink({});
    auto line = [&sink](const char* label, const std::string& text) {
        sink.write(base::strprintf("%-10s %s\n", label, text.c_str()));
    };
    line("read", blocks_text(*trace));
    analyze::RecordCount count = analyze::count_records(trace->recording);
    line("counted", counted(count.records, "record") + " in " + counted(count.segments, "segment") +
                        (count.miscounted == 0
                             ? ""
                             : "; " + counted(count.miscounted, "segment has", "segments have") +
                                   " not what the index says"));
    sink.flush();
    const unsigned threads = many_threads.options.jobs;
    if (trace->boots.size() > 1) // the first reading has printed which
        many_threads.options.boot = formats::boot_name(trace->recording.boot_id);
    auto again = read_trace_files(many_threads);
    if (!again.ok())
        return fail(again.error());
    AskedRecording alone = AskedRecording::of(std::move(*trace));
    Progress progress("", ProgressUnit::records);
    Readings readings = compare(alone, AskedRecording::of(std::move(*again)), threads, progress);
    progress.clear();
    line("reported", readings.reported);
    line("replayed", readings.replayed);
    const formats::Recording& recording = alone.trace().recording;
    formats::Findings findings = recording.all_findings();
    for (const formats::Finding& finding : findings.list())
        line("found", finding.where + ": " + finding.text +
                          (formats::finding_is_loss(finding.kind) ? "" : " (no loss)"));
    if (findings.count() > findings.list().size())
        line("found", "and " + counted(findings.count() - findings.list().size(), "more finding"));
    analyze::print_holes(recording, count, sink);
    analyze::CompletenessNote note = analyze::completeness_of(recording);
    sink.write(note.verdict() + "\n");
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    if (!readings.are_same) {
        complain("two readings of the same files differ: a file changed in between, or this is a "
                 "mistake in daybreak");
        return static_cast<int>(Exit::failed);
    }
    return note.advised_status();
}

} // namespace

void add_verify(Command app, int& status) {
    auto files = std::make_shared<TraceFiles>();
    Command command =
        app.add_subcommand("verify", "Read a trace file to the last record and list all holes");
    add_trace_files(command, *files, true);
    command.footer("\nReads every block and every record, reports and replays the program twice;\n"
                   "prints what is missing, with CPU, time, cause and count.  Exit status 3 when\n"
                   "data was lost.  A replay is \"not as reported\" where what the program printed\n"
                   "depended on when its consumer looked, as with a rate or a clean-up in between.\n"
                   "Example: is this copy whole?\n"
                   "  daybreak verify boot.dbrk");
    command.callback([files, &status] { status = verify(*files); });
}

} // namespace daybreak::cmd
