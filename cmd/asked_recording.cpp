// SPDX-License-Identifier: Apache-2.0
//
// AskedRecording: programs replayed over one recording.
#include "cmd/asked_recording.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/replay/replay.hpp"
#include "analyze/report.hpp"
#include "base/counted.hpp"
#include "cmd/recorded_table.hpp"
#include "cmd/recording_set.hpp"
#include "cmd/replayed_program.hpp"
#include "cmd/terminal.hpp"
#include "cmd/user_symbols.hpp"

#include <algorithm>
#include <functional>
#include <list>

namespace daybreak::cmd {

namespace {

void put_notes(const analyze::StringSink& sink, ProgramAnswer& answer) {
    for (const analyze::Message& message : sink.messages)
        if (message.kind != analyze::Message::Kind::drop)
            answer.notes.push_back(message.text);
}

/// "proc:::exit was not recorded", of what the compiler says of a probe that is not there.
base::Error in_words_of_recordings(const base::Error& wrong) {
    constexpr std::string_view kBefore = "probe description ",
                               kAfter = " does not match any probes";
    std::string_view text = wrong.message();
    if (!text.starts_with(kBefore) || !text.ends_with(kAfter))
        return wrong;
    text.remove_prefix(kBefore.size());
    text.remove_suffix(kAfter.size());
    return base::errorf(wrong.code(), "%s was not recorded", std::string(text).c_str());
}

/// Compiles all of a program, else what of it the recording has all for, where that will do.
base::Result<CompiledProgram> compile_asked(const ProgramArguments& program, KnownProbes known,
                                            bool where_possible) {
    auto whole = compile_quietly(program, known);
    if (whole.ok() || !where_possible)
        return whole;
    known.where_possible = true;
    auto part = compile_quietly(program, known);
    const std::string& text = whole.error().message();
    if (part.ok() && !part->has_clause_left_out)
        return part;
    if (text.find(" was not recorded at ") == text.npos)
        return whole;
    return base::errorf(whole.error().code(), "no probe has all that it asks for (%s)",
                        text.c_str());
}

} // namespace

base::Result<AskedRecording> AskedRecording::open(const TraceFiles& files) {
    DBK_TRY(formats::Trace trace, read_trace_files(files));
    return of(std::move(trace));
}

AskedRecording AskedRecording::of(formats::Trace trace) {
    AskedRecording asked;
    asked.trace_ = std::make_unique<formats::Trace>(std::move(trace));
    return asked;
}

base::Result<void> AskedRecording::apply(const WindowOptions& window) {
    DBK_TRY(window_, apply_window_options(window, trace_->recording));
    if (window_.is_set() && !analyze::has_records(trace_->recording, window_))
        return base::errorf(
            base::ErrorCode::not_found,
            "%s: there is no record in that window; daybreak info has the first and last "
            "time of each CPU",
            trace_->path.c_str());
    if (!window_.is_set())
        window_ = analyze::own_window_of(trace_->recording);
    return {};
}

base::Result<ProgramAnswer> AskedRecording::ask(const ProgramArguments& program,
                                                const AskOptions& options) const {
    std::vector<size_t> rings = described_rings();
    auto whole = ask_rings(rings, program, options);
    if (whole.ok() || whole.error().code() != base::ErrorCode::invalid)
        return whole;
    if (options.newest_ring_first)
        std::ranges::stable_sort(rings, std::ranges::greater(), [this](size_t ring) {
            return analyze::span_of(trace_->recording.rings[ring]).last_mono_ns;
        });
    std::optional<base::Error> wrong;
    for (size_t ring : rings) {
        auto answer = ask_rings({ring}, program, options);
        if (answer.ok() && rings.size() > 1)
            answer->notes.push_back(
                "asked of ring " + trace_->recording.rings[ring].info.name +
                " alone, as all rings together cannot be: " + whole.error().message());
        if (answer.ok() || answer.error().code() != base::ErrorCode::invalid)
            return answer;
        if (!wrong)
            wrong = in_words_of_recordings(answer.error());
    }
    // Of several rings the error of one alone would deny what another recorded.
    return rings.size() > 1 ? in_words_of_recordings(whole.error()) : *wrong;
}

/// A ring with what its records hold.
struct AskedRecording::Ring {
    analyze::RingProgram program;
    analyze::CaptureTable table;

    Ring(const formats::RingRecording& ring, analyze::CaptureSlots& slots)
        : program(ring), table(ring, program, slots) {}
};

base::Result<ProgramAnswer> AskedRecording::ask_rings(const std::vector<size_t>& indexes,
                                                      const ProgramArguments& program,
                                                      const AskOptions& options,
                                                      bool is_stored) const {
    if (indexes.empty())
        return base::errorf(base::ErrorCode::not_found,
                            "the recording does not describe its records: nothing can be replayed");
    analyze::CaptureSlots slots;
    std::list<Ring> rings;
    std::vector<analyze::ReplayedRecording> replayed;
    std::vector<const analyze::CaptureTable*> tables;
    uint64_t all = 0;
    for (size_t index : indexes) {
        const formats::RingRecording& ring = trace_->recording.rings[index];
        const Ring& one = rings.emplace_back(ring, slots);
        replayed.push_back({&trace_->recording, index, &one.table, window_, vmname_of(*trace_),
                            bootid_of(*trace_), 0, one.program.target()});
        tables.push_back(&one.table);
        all += ring.completeness().present;
    }
    for (Ring& ring : rings)
        ring.table.finish();
    analyze::ReplayedProbes probes(replayed);
    RecordedTable state(probes);
    if (options.pairs_entries)
        state.pair_entries();
    auto exists = [&](const compiler::ProbeDescription& description) {
        return !state.matches(description).empty();
    };
    KnownProbes known{exists, {}, {}, &state};
    know_target(known, replayed);
    DBK_TRY(CompiledProgram compiled, compile_asked(program, known, options.where_possible));
    DBK_TRY_VOID(check_recorded_once(compiled.program, state, replayed));
    DBK_TRY_VOID(check_destructive(compiled.program));
    std::vector<formats::DofOption> given;
    if (is_stored) // those of its command line, too
        given = rings.front().program.options();
    DBK_TRY(base::Bytes dof, replayed_dof(compiled, given));

    analyze::ReportOptions report_options;
    report_options.symbols = &trace_->symbols;
    auto users = user_names_of(*trace_);
    report_options.users = users.get();
    report_options.totals = options.totals;
    analyze::StringSink sink;
    analyze::LiveReport report(report_options, options.sink ? *options.sink : sink);
    analyze::ReplayOptions how;
    how.release = compiled.release;
    how.destructive = true; // the machine is the replay's
    how.interrupted = is_interrupted;
    if (options.progress)
        how.progress = [&](uint64_t records) { options.progress(records, all); };
    analyze::Replay replay(probes, how);
    DBK_TRY_VOID(replay.run(dof, report));
    ProgramAnswer answer;
    answer.aggregations = report.answers();
    answer.aggregates = !compiled.program.aggregation_names.empty();
    answer.text = std::move(sink.text);
    put_notes(sink, answer);
    answer.has_drops = replay.drops() != 0;
    if (answer.has_drops)
        answer.notes.push_back(base::counted(replay.drops(), "drop") +
                               " when it was replayed: the answer is of the rest");
    if (replay.has_timers_ended())
        answer.notes.push_back("timers fired no more: the recording is too long for them");
    if (std::string note = note_of_predicates(compiled.program, tables); !note.empty())
        answer.notes.push_back(note);
    if (!state.partial().empty())
        answer.notes.push_back("recorded at some firings only, and clauses run for these: " +
                               base::some_of(state.partial()));
    if (!state.unpaired().empty())
        answer.notes.push_back("not asked about " + base::some_of(state.unpaired()) +
                               ": not all of their returns were recorded");
    return answer;
}

base::Result<ProgramAnswer> AskedRecording::ask_stored(const AskOptions& options) const {
    ProgramAnswer all;
    const std::vector<size_t> described = described_rings();
    if (described.empty())
        return base::errorf(base::ErrorCode::not_found,
                            "the recording does not describe its records");
    for (size_t index : described) {
        ProgramArguments program;
        const formats::RingRecording& ring = trace_->recording.rings[index];
        DBK_TRY(program.source, stored_source(analyze::RingProgram(ring)));
        auto answer = ask_rings({index}, program, options, true);
        if (!answer.ok())
            return in_words_of_recordings(answer.error());
        all.text += answer->text;
        all.has_drops |= answer->has_drops;
        std::ranges::move(answer->aggregations, std::back_inserter(all.aggregations));
        std::ranges::move(answer->notes, std::back_inserter(all.notes));
    }
    return all;
}

std::vector<size_t> AskedRecording::described_rings() const {
    std::vector<size_t> described;
    for (size_t ring = 0; ring < trace_->recording.rings.size(); ring++)
        if (!trace_->recording.rings[ring].ecbs.empty())
            described.push_back(ring);
    return described;
}

ProgramAnswer AskedRecording::stored(const AskOptions& options) const {
    analyze::ReportOptions report_options;
    report_options.symbols = &trace_->symbols;
    auto users = user_names_of(*trace_);
    report_options.users = users.get();
    report_options.totals = options.totals;
    report_options.window = window_;
    report_options.interrupted = is_interrupted;
    analyze::StringSink sink;
    analyze::ReportSession session(report_options, sink);
    session.feed(trace_->recording, analyze::drops_of(trace_->recording));
    session.end();
    ProgramAnswer answer;
    answer.aggregations = session.answers();
    answer.text = std::move(sink.text);
    put_notes(sink, answer);
    return answer;
}

std::set<std::string> AskedRecording::stored_names() const {
    std::set<std::string> names;
    for (const formats::RingRecording& ring : trace_->recording.rings) {
        analyze::RingProgram program(ring);
        for (const auto& [variable, function] : program.functions())
            names.insert("@" + program.aggregation_name(variable));
    }
    return names;
}

} // namespace daybreak::cmd
