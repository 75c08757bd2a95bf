// SPDX-License-Identifier: Apache-2.0
//
// Simulation: what was recorded, taken piece by piece as the consumer of a running ring does.
#include "engine/sim/simulation.hpp"

#include <utility>

namespace daybreak::sim {

namespace {

/// A simulated ring gives what it is asked for: there is no device that could fail.
void must(const Result<void>& done) {
    DBK_ASSERT(done.ok());
}

void add(formats::RecordingBuilder& builder, std::vector<Bytes> pieces) {
    for (Bytes& piece : pieces)
        builder.add_owned(std::move(piece), {.origin = "simulation"});
}

} // namespace

Result<void> Simulation::open_ring() {
    ring_.emplace(host_, *consumer_, options_.ring_id, options_.release);
    DBK_TRY(live::RingReader reader, live::RingReader::open(*ring_, options_.ring_id));
    reader_.emplace(std::move(reader));
    return {};
}

void Simulation::take_aggregations() {
    must(reader_->take_aggregations(taken_));
}

/// Takes each CPU's segments that were not taken before; the one that is being written after the
/// end.
void Simulation::take_segments() {
    must(reader_->update());
    for (uint32_t cpu : reader_->cpus())
        must(reader_->take_segments(cpu, false, taken_));
}

void Simulation::drain() {
    HostScope scope(host_);
    must(reader_->update());
    if (dbk_consumer_ring(consumer_)->policy != DBK_POLICY_FILL)
        must(reader_->take_segments(host_.cpu(), false, taken_));
}

formats::RingPieces Simulation::poll(const formats::Readings& wanted) {
    Result<formats::RingPieces> polled = reader_->poll(wanted);
    DBK_ASSERT(polled.ok());
    // What was taken here, by drain() or after a firing, is older.
    auto put_before = [](std::vector<Bytes>& taken, std::vector<Bytes>& pieces) {
        for (Bytes& piece : pieces)
            taken.push_back(std::move(piece));
        pieces = std::exchange(taken, {});
    };
    if (wanted.aggregations)
        put_before(taken_.aggregations, polled->aggregations);
    if (wanted.records)
        put_before(taken_.segments, polled->segments);
    return std::move(polled).value();
}

std::vector<Bytes> Simulation::poll_segments() {
    must(reader_->update());
    for (uint32_t cpu : reader_->cpus())
        must(reader_->take_segments(cpu, true, taken_));
    return std::exchange(taken_.segments, {});
}

/// What the ring holds that was not taken yet.
formats::Recording Simulation::untaken() {
    must(reader_->update());
    formats::RecordingBuilder builder;
    add(builder, reader_->metadata());
    add(builder, reader_->untaken());
    return builder.build({.boot_id = host_.boot_id()});
}

formats::Recording Simulation::recording() {
    must(reader_->update());
    formats::RecordingBuilder builder;
    add(builder, taken_.segments);
    add(builder, reader_->metadata());
    add(builder, taken_.aggregations);
    return builder.build({.boot_id = host_.boot_id()});
}

Result<formats::TraceSummary> Simulation::write_trace_file(base::OutputFile& file,
                                                           const formats::TraceHeader& header,
                                                           formats::TraceWriterOptions options) {
    must(reader_->update());
    std::vector<Bytes> metadata = reader_->metadata();
    std::vector<formats::TraceRegion> regions;
    for (const std::vector<Bytes>* group : {&taken_.segments, &metadata})
        for (const Bytes& piece : *group)
            regions.push_back({piece, "simulation"});
    return formats::write_trace(file, header, regions, taken_.aggregations,
                                host_.symbols(),
                                options);
}

} // namespace daybreak::sim
