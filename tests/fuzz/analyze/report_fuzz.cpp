// SPDX-License-Identifier: Apache-2.0
//
// Feeds trace files, or bare pieces of a ring, to the reader and prints what comes out: report,
// summary and list.  Nothing may crash, whatever the DOF, the ECBs and the records say.
#include "analyze/decode/moment.hpp"
#include "analyze/info.hpp"
#include "analyze/list.hpp"
#include "analyze/report.hpp"

using namespace daybreak;

namespace {

/// Forgets everything, but has looked at it.
class NullSink : public analyze::Sink {
public:
    void write(std::string_view text) override {
        for (char c : text)
            sum_ = sum_ + static_cast<unsigned char>(c);
    }
    void message(const analyze::Message& message) override { write(message.text); }

private:
    volatile uint64_t sum_ = 0;
};

// Far below the defaults: a mutation that asks for gigabytes is refused like any other.
constexpr uint64_t kAggregationBytes = 4u << 20;
constexpr int kFieldWidth = 4096;

void print_all(const formats::Recording& recording, const formats::SymbolTable* symbols) {
    NullSink sink;
    analyze::ReportOptions options;
    options.symbols = symbols;
    options.aggregation_bytes_max = kAggregationBytes;
    options.output.field_width_max = kFieldWidth;
    analyze::render_report(recording, options, sink);
    options.window = {1000, 5000};
    options.output.flowindent = true;
    analyze::render_report(recording, options, sink);
    options.json = true;
    analyze::render_report(recording, options, sink);
    analyze::print_info(recording, sink);
    analyze::print_info(recording, sink, {.log_lines = {}, .window = options.window, .probes = {}});
    analyze::print_probe_list(recording, false, sink, options.window);
    using Anchor = analyze::Moment::Anchor;
    for (Anchor anchor : {Anchor::boot, Anchor::wall, Anchor::day, Anchor::start, Anchor::end,
                          Anchor::panic, Anchor::trigger})
        for (int64_t offset_ns : {INT64_MIN, int64_t{0}, INT64_MAX})
            (void)analyze::mono_ns_of({anchor, offset_ns, ""}, recording, {}).ok();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    base::ByteView bytes = std::as_bytes(std::span(data, size));
    auto trace = formats::parse_trace(bytes, "fuzz");
    if (trace.ok()) {
        print_all(trace->recording, &trace->symbols);
        NullSink sink;
        analyze::print_info_json(*trace, sink,
                                 {.log_lines = {}, .window = {1000, 5000}, .probes = {}});
        analyze::print_info(*trace, sink);
    }
    formats::RecordingBuilder builder;
    builder.add_bytes(bytes, {.origin = "fuzz", .packing = formats::Packing::packed});
    print_all(builder.build(), nullptr);
    return 0;
}
