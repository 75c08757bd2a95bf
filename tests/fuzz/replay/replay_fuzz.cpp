// SPDX-License-Identifier: Apache-2.0
//
// Replays trace files, or bare pieces of a ring, whatever their DOF, ECBs and records say: nothing
// may crash, and each replay ends.
#include "analyze/replay/replay.hpp"
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
    if (trace.ok())
        replay_all(trace->recording);
    formats::RecordingBuilder builder;
    builder.add_bytes(bytes, {.origin = "fuzz", .packing = formats::Packing::packed});
    replay_all(builder.build());
    return 0;
}
