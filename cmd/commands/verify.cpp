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
#include "cmd/terminal.hpp"
#include "cmd/trace_files.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/user_symbols.hpp"

#include <algorithm>
#include <cinttypes>
#include <filesystem>
#include <functional>
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
    bool has_drops = false;     ///< of the replay itself
};

/// What is under way, and how far it is.
class Steps {
public:
    void begin(std::string name) {
        name_ = std::move(name);
        records_ = 0;
    }
    void update(uint64_t records, uint64_t all) {
        records_ = records;
        all_ = all;
        progress_.step(name_, records, all);
    }
    void clear() { progress_.clear(); }
    /// "interrupted when reporting again, after 65536 records of 900000"
    std::string interrupted_text() const {
        return "interrupted when " + name_ +
               (records_ == 0
                    ? ""
                    : ", after " + counted(records_, "record") + " of " + std::to_string(all_)) +
               ": what is printed holds, the rest was not verified";
    }

private:
    Progress progress_{"", ProgressUnit::records};
    std::string name_;
    uint64_t records_ = 0, all_ = 0;
};

Digests digests_of_report(const formats::Trace& trace, Steps& steps, const char* step) {
    analyze::ReportOptions options;
    const uint64_t all = trace.recording.records_present();
    steps.begin(step);
    options.progress = [&](uint64_t records) { steps.update(records, all); };
    options.interrupted = is_interrupted;
    options.symbols = &trace.symbols;
    auto users = user_names_of(trace);
    options.users = users.get();
    analyze::DigestSink sink;
    analyze::render_report(trace.recording, options, sink);
    return {sink.all(), sink.text(), "", false};
}

Digests digests_of_replay(const AskedRecording& recording, Steps& steps, const char* step) {
    analyze::DigestSink sink;
    AskOptions options;
    options.sink = &sink;
    steps.begin(step);
    options.progress = [&](uint64_t records, uint64_t all) { steps.update(records, all); };
    auto answer = recording.ask_stored(options);
    return {sink.all(), sink.text(), answer.ok() ? "" : answer.error().message(),
            answer.ok() && answer->has_drops};
}

/// "281 bytes, CRC-32C 1a2b3c4d, with 1 thread; with 2 the same"
std::string digests_text(const analyze::OutputDigest& alone, const analyze::OutputDigest& together,
                         unsigned threads) {
    auto text = [](const analyze::OutputDigest& digest) {
        return counted(digest.bytes, "byte") + base::strprintf(", CRC-32C %08x", digest.crc32c);
    };
    return text(alone) + ", with 1 thread; with " + std::to_string(threads) + " " +
           (alone == together ? "the same" : text(together));
}

using PrintLine = std::function<void(const char* label, const std::string& text)>;

/// What two readings gave.
struct Compared {
    bool are_same = true, has_drops = false; ///< of a replay itself
};

/// Reports and replays both, and prints what came of it.  Empty: it was interrupted.
std::optional<Compared> compare(const AskedRecording& alone, const AskedRecording& together,
                                unsigned threads, Steps& steps, const PrintLine& line) {
    Digests report = digests_of_report(alone.trace(), steps, "reporting");
    if (is_interrupted())
        return std::nullopt;
    Digests report_again = digests_of_report(together.trace(), steps, "reporting again");
    if (is_interrupted())
        return std::nullopt;
    line("reported", digests_text(report.all, report_again.all, threads));
    Digests replay = digests_of_replay(alone, steps, "replaying");
    if (is_interrupted())
        return std::nullopt;
    Digests replay_again = digests_of_replay(together, steps, "replaying again");
    if (is_interrupted())
        return std::nullopt;
    line("replayed", replay.why_not.empty()
                         ? digests_text(replay.text, replay_again.text, threads) +
                               (alone.described_rings().size() > 1 ? ", each ring by itself"
                                : replay.text == report.text       ? ", as reported"
                                                                   : ", not as reported")
                         : "not: " + replay.why_not);
    // Messages of a replay have addresses of this process in them: "invalid address (0x...)".
    return Compared{report.all == report_again.all && replay.text == replay_again.text,
                    replay.has_drops || replay_again.has_drops};
}

/// Prints what is missing, found and counted.
void print_findings(const formats::Recording& recording, const analyze::RecordCount& count,
                    TerminalSink& sink, const PrintLine& line) {
    formats::Findings findings = recording.all_findings();
    for (const formats::Finding& finding : findings.list())
        line("found", finding.where + ": " + finding.text +
                          (formats::finding_is_loss(finding.kind) ? "" : " (no loss)"));
    if (findings.count() > findings.list().size())
        line("found", "and " + counted(findings.count() - findings.list().size(), "more finding"));
    analyze::print_holes(recording, count, sink);
}

std::string count_text(const analyze::RecordCount& count) {
    return counted(count.records, "record") + " in " + counted(count.segments, "segment") +
           (count.miscounted == 0
                ? ""
                : "; " + counted(count.miscounted, "segment has", "segments have") +
                      " not what the index says");
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
    Steps steps;
    PrintLine line = [&](const char* label, const std::string& text) {
        steps.clear();
        sink.write(base::strprintf("%-10s %s\n", label, text.c_str()));
        sink.flush();
    };
    auto stop = [&steps] {
        steps.clear();
        complain(steps.interrupted_text());
        return finish_stdout() == Exit::ok ? analyze::kStatusLosses
                                           : static_cast<int>(Exit::failed);
    };
    line("read", blocks_text(*trace));
    const unsigned threads = many_threads.options.jobs;
    if (trace->boots.size() > 1) // the first reading has printed which
        many_threads.options.boot = formats::boot_name(trace->recording.boot_id);
    auto again = read_trace_files(many_threads);
    if (!again.ok())
        return fail(again.error());
    install_interrupt(); // before this there was nothing to print
    steps.begin("counting");
    const uint64_t all = trace->recording.records_present();
    analyze::RecordCount count = analyze::count_records(trace->recording, [&](uint64_t records) {
        steps.update(records, all);
        return is_interrupted();
    });
    if (is_interrupted())
        return stop();
    line("counted", count_text(count));
    AskedRecording alone = AskedRecording::of(std::move(*trace));
    auto compared = compare(alone, AskedRecording::of(std::move(*again)), threads, steps, line);
    steps.clear();
    print_findings(alone.trace().recording, count, sink, line);
    sink.flush();
    if (!compared)
        return stop();
    analyze::CompletenessNote note = analyze::completeness_of(alone.trace().recording);
    sink.write(note.verdict() + "\n");
    sink.flush();
    if (finish_stdout() != Exit::ok)
        return static_cast<int>(Exit::failed);
    if (!compared->are_same) {
        complain("two readings of the same files differ: a file changed in between, or this is a "
                 "mistake in daybreak");
        return static_cast<int>(Exit::failed);
    }
    if (compared->has_drops) {
        complain("the replay had drops of its own: whether it is as reported is not known");
        return analyze::kStatusLosses;
    }
    return note.advised_status();
}

} // namespace

void add_verify(Command app, int& status) {
    auto files = std::make_shared<TraceFiles>();
    Command command =
        app.add_subcommand("verify", "Read a trace file to the last record and list all holes");
    add_trace_files(command, *files, true);
    command.footer(
        "\nReads every block and every record, reports and replays the program twice;\n"
        "prints what is missing, with CPU, time, cause and count.  Exit status 3 when\n"
        "data was lost.  A replay is \"not as reported\" where what the program printed\n"
        "depended on when its consumer looked, as with a rate or a clean-up in between.\n"
        "Example: is this copy whole?\n"
        "  daybreak verify boot.dbrk");
    command.callback([files, &status] { status = verify(*files); });
}

} // namespace daybreak::cmd
