// SPDX-License-Identifier: Apache-2.0
//
// Replays trace files, or bare pieces of a ring, whatever their DOF, ECBs and records say, each
// alone and a file beside the one of most records before: nothing may crash, and each replay ends.
#include "analyze/replay/replay.hpp"
#include "analyze/symbols/recorded_names.hpp"
#include "compiler/compiler.hpp"
#include "formats/trace/reader.hpp"

using namespace daybreak;

namespace {

class NullSink : public analyze::Sink {
public:
    void write(std::string_view) override {}
    void message(const analyze::Message&) override {}
};

base::Bytes compiled(const char* text) {
    compiler::CompileOptions options;
    options.sources.push_back({"fuzz.d", text});
    compiler::CompileOutput output = compiler::compile(options);
    DBK_ASSERT(output.dof.has_value());
    return *output.dof;
}

/// Programs of any probe that a recording may have: one that is run firing by firing, one whose
/// records may be taken together.
const std::vector<base::Bytes>& programs() {
    static const std::vector<base::Bytes> all = {
        compiled("::: { @[probefunc, probename, cpu] = count(); self->n++; } tick-10ms { n++; } "
                 "END { printf(\"%d\", n); }"),
        compiled("::: { @[probefunc, probename] = count(); }")};
    return all;
}

/// Of several recordings, whose addresses are made places.
const base::Bytes& program_of_places() {
    static const base::Bytes program =
        compiled("::: { @[stack(), ustack(), caller, ucaller] = count(); }");
    return program;
}

void replay_one(const analyze::ReplayedRecording& recording, const base::Bytes& program) {
    NullSink sink;
    analyze::ReportOptions options;
    options.aggregation_bytes_max = 4u << 20;
    analyze::LiveReport report(options, sink);
    analyze::ReplayOptions how;
    how.timer_firings_max = 1000;
    analyze::ReplayedProbes probes(std::span(&recording, 1));
    analyze::Replay replay(probes, how);
    (void)replay.run(program, report).ok();
}

/// A ring of a file, with what its records hold.
struct Ring {
    Ring(const formats::Trace& of, analyze::CaptureSlots& slots)
        : trace(of), program(of.recording.rings[0]), table(of.recording.rings[0], program, slots),
          users(of.recording.maps, {}) {}
    analyze::ReplayedRecording replayed(uint64_t shift_ns) const {
        return {&trace.recording, 0, &table, {}, "web", "boot", shift_ns};
    }

    const formats::Trace& trace;
    analyze::RingProgram program;
    analyze::CaptureTable table;
    analyze::RecordedNames users;
};

void replay_beside(const formats::Trace& good, const formats::Trace& other) {
    if (good.recording.rings.empty() || other.recording.rings.empty())
        return;
    analyze::CaptureSlots slots;
    Ring one(good, slots), two(other, slots);
    one.table.finish();
    two.table.finish();
    const analyze::ReplayedRecording both[] = {one.replayed(0), two.replayed(1000)};
    analyze::CommonPlaces places({{&good, &one.users}, {&other, &two.users}});
    NullSink sink;
    analyze::ReportOptions options;
    options.aggregation_bytes_max = 4u << 20;
    options.symbols = &places.symbols();
    options.users = &places.users();
    analyze::LiveReport report(options, sink);
    analyze::ReplayOptions how;
    how.timer_firings_max = 1000;
    how.places = &places;
    analyze::ReplayedProbes probes(both);
    analyze::Replay replay(probes, how);
    (void)replay.run(program_of_places(), report).ok();
}

uint64_t records_of(const formats::Trace& trace) {
    return trace.recording.rings.empty() ? 0 : trace.recording.rings[0].completeness().present;
}

/// The first inputs are beginnings of a file: the longest of them.
struct Kept {
    uint64_t records = 0;
    base::Bytes bytes;
};

void replay_all(const formats::Recording& recording) {
    for (size_t i = 0; i < recording.rings.size(); i++) {
        analyze::RingProgram recorded(recording.rings[i]);
        analyze::CaptureSlots slots;
        analyze::CaptureTable table(recording.rings[i], recorded, slots);
        table.finish();
        for (const base::Bytes& program : programs())
            replay_one({&recording, i, &table}, program);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    base::ByteView bytes = std::as_bytes(std::span(data, size));
    auto trace = formats::parse_trace(bytes, "fuzz");
    if (trace.ok()) {
        replay_all(trace->recording);
        static Kept kept;
        if (records_of(*trace) > kept.records)
            kept = {records_of(*trace), {bytes.begin(), bytes.end()}};
        if (auto good = formats::parse_trace(kept.bytes, "good"); good.ok())
            replay_beside(*good, *trace);
    }
    formats::RecordingBuilder builder;
    builder.add_bytes(bytes, {.origin = "fuzz", .packing = formats::Packing::packed});
    replay_all(builder.build());
    return 0;
}
