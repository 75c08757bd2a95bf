// SPDX-License-Identifier: Apache-2.0
//
// replay --partial: what a replay aggregated goes into a file, to be merged.
#include "cmd/commands/partial.hpp"

#include "analyze/completeness.hpp"
#include "analyze/decode/time_span.hpp"
#include "analyze/replay/partial.hpp"
#include "analyze/replay/replay.hpp"
#include "base/byte_source.hpp"
#include "base/counted.hpp"
#include "base/file.hpp"
#include "cmd/progress.hpp"
#include "cmd/terminal.hpp"
#include "cmd/trace_sink.hpp"
#include "cmd/user_symbols.hpp"
#include "formats/abi/trace.h"
#include "formats/dof/dof_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <span>

namespace daybreak::cmd {

namespace {

using base::errorf;

/// Passes on what is said, not what is printed: that is the merge's.
class MessageSink : public analyze::Sink {
public:
    explicit MessageSink(TerminalSink& sink) : sink_(sink) {}
    void write(std::string_view) override {}
    void message(const analyze::Message& message) override { sink_.message(message); }

private:
    TerminalSink& sink_;
};

/// The program as it runs over a part, and what the merge runs.
struct PartialPrograms {
    base::Bytes part;
    analyze::PartialProgram program;
};

base::Result<PartialPrograms> programs_of(const PartialRequest& request) {
    DBK_TRY(
        analyze::MergeableProgram mergeable,
        analyze::mergeable_program(request.compiled.program, *request.recording.rings[0].table));
    PartialPrograms programs;
    programs.program.normalized = request.compiled.normalized;
    programs.program.options = request.compiled.program.options;
    programs.program.keeps_thread_state = mergeable.keeps_thread_state;
    programs.program.keeps_global_state = mergeable.keeps_global_state;
    programs.program.has_ticks = mergeable.has_ticks;
    DBK_TRY(programs.part, formats::write_dof(mergeable.part));
    DBK_TRY(programs.program.ends, formats::write_dof(mergeable.ends));
    return programs;
}

/// Refuses to replace anything but states: a name left out, or a pattern, puts a recording there.
base::Result<void> check_replaced(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none))
        return {};
    DBK_TRY(auto there, base::open_source(path));
    dbk_trace_block first = {};
    base::Bytes head = base::read_beginning(*there, sizeof(first));
    std::ranges::copy(head, std::as_writable_bytes(std::span(&first, 1)).begin());
    if (head.empty() || (first.magic == DBK_TRACE_MAGIC && first.type == DBK_TRACE_PART))
        return {};
    return errorf(base::ErrorCode::invalid,
                  "--partial %s: it is there, and is not a file of partial states: name another",
                  path.c_str());
}

base::Result<void> write_file(const PartialRequest& request, const formats::StatePart& part,
                              analyze::LiveReport& report, analyze::UserNames* users) {
    DBK_TRY(base::OutputFile file,
            base::OutputFile::create(request.path, base::OutputFile::kSecretMode));
    formats::StateWriter writer([&file](base::ByteView bytes) { return file.write(bytes); });
    static const analyze::AggregationTable kNothing;
    analyze::Consumer* consumer = report.consumer();
    DBK_TRY_VOID(analyze::write_part(writer, part, consumer ? consumer->aggregations() : kNothing,
                                     request.compiled.program.aggregation_names,
                                     request.recording.trace, users));
    DBK_TRY_VOID(writer.finish());
    return file.commit();
}

/// Says what of the recording is not here.  Returns the exit status.
int end(const PartialRequest& request, const analyze::Replay& replay) {
    analyze::CompletenessNote note =
        analyze::completeness_of(request.recording.trace.recording, request.recording.window);
    if ((!note.complete || !note.until.empty()) && !is_testing())
        complain(note.verdict());
    if (replay.has_timers_ended())
        complain("timers fired too often, and no more: the recording is too long for them");
    return replay.drops() != 0 ? analyze::kStatusLosses : note.advised_status();
}

} // namespace

int replay_partial(const PartialRequest& request) {
    if (auto checked = check_replaced(request.path); !checked.ok())
        return fail(checked.error());
    auto programs = programs_of(request);
    if (!programs.ok())
        return fail(programs.error());
    const formats::RingRecording& ring = *request.recording.rings[0].ring;
    const analyze::TimeWindow& window = request.recording.window;
    if (window.since_ns() > window.until_ns())
        return fail(errorf(base::ErrorCode::invalid, "the window is empty: what is at its end does "
                                                     "not belong to a part"));
    formats::StatePart part =
        analyze::part_of(request.recording.trace, ring, window, programs->program);
    analyze::ReportOptions options;
    options.testing = is_testing();
    options.symbols = &request.recording.trace.symbols;
    UserNamesOfAll users;
    users.push_back(user_names_of(request.recording.trace, request.places));
    analyze::CommonPlaces places({{&request.recording.trace, users[0].get()}});
    options.users = &places.users();
    TerminalSink sink({.details = !options.testing});
    MessageSink messages(sink);
    analyze::LiveReport report(options, messages);
    Progress progress("daybreak: replaying", ProgressUnit::records);
    analyze::ReplayOptions how;
    how.release = request.compiled.release;
    how.destructive = true; // the machine is the replay's
    how.places = &places;
    install_interrupt();
    how.interrupted = [] { return interrupted.load(); };
    const uint64_t all = ring.completeness().present;
    how.progress = [&](uint64_t records) { progress.update(records, all); };
    analyze::Replay replay(request.probes, how);
    auto done = replay.run(programs->part, report);
    progress.clear();
    sink.finish();
    if (!done.ok())
        return fail(done.error());
    if (replay.was_interrupted())
        return fail(errorf(base::ErrorCode::invalid, "interrupted: %s was not written",
                           request.path.c_str()));
    if (analyze::Consumer* consumer = report.consumer(); consumer && consumer->refused() != 0)
        return fail(errorf(base::ErrorCode::limit,
                           "aggregations do not fit into memory: %s was "
                           "not written",
                           request.path.c_str()));
    part.begin_ns = replay.begin_ns();
    part.begin_wall_ns = ring.clock.wall_ns(part.begin_ns);
    part.begin_cpu = replay.begin_cpu();
    auto last = analyze::last_record_in(window, ring);
    part.end_ns = last ? last->mono_ns : part.begin_ns;
    part.end_cpu = last ? last->cpu : part.begin_cpu;
    part.records = window.is_set() ? 0 : all;
    for (const formats::CpuInfo& cpu : ring.cpus)
        part.records += window.is_set() ? analyze::records_in(window, ring, cpu).records : 0;
    part.firings = replay.firings();
    part.drops = replay.drops();
    analyze::note_divided(part, replay.divided());
    if (auto written = write_file(request, part, report, &places.users()); !written.ok())
        return fail(written.error());
    if (!options.testing)
        complain_of_missing(users);
    return end(request, replay);
}

} // namespace daybreak::cmd
