// SPDX-License-Identifier: Apache-2.0
//
// LiveReport: what dtrace(1) prints while it traces.
#include "analyze/live_report.hpp"

namespace daybreak::analyze {

namespace {

ReportOptions of_growing_ring(ReportOptions options) {
    options.grows = true;
    return options;
}

} // namespace

LiveReport::LiveReport(const ReportOptions& options, Sink& sink)
    : users_(options.users), session_(of_growing_ring(options), sink) {}

void LiveReport::add(formats::RingPieces pieces, const formats::Readings& looked_at) {
    formats::RecordingBuilder builder;
    for (auto* group : {&pieces.metadata, &pieces.segments, &pieces.aggregations})
        for (base::Bytes& piece : *group)
            builder.add_owned(std::move(piece), {.origin = "live"});
    formats::Recording& recording = recordings_.emplace_back(builder.build());
    // Copied after the records: what they were in is there.
    if (users_)
        users_->set_maps(std::move(recording.maps));
    if (recording.rings.empty() || !recording.rings[0].has_info) {
        session_.problem("what the ring holds cannot be read");
        recordings_.pop_back();
        return;
    }
    if (!session_.feed(recording, counters_.take(recording, looked_at), pieces.horizon_mono_ns))
        recordings_.pop_back();
}

} // namespace daybreak::analyze
