// SPDX-License-Identifier: Apache-2.0
//
// AlikeReplay: fires the clauses of an AlikeProgram once for all records of a block that are alike.
#include "analyze/replay/alike_replay.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

constexpr uint64_t kTimeMax = UINT64_MAX / 2;

} // namespace

AlikeReplay::AlikeReplay(const formats::Recording& recording, size_t ring,
                         const CaptureTable& table, const TimeWindow& window, AlikeProgram program)
    : ring_(recording.rings[ring]), table_(table), program_(std::move(program)),
      walk_(recording, window, {}, *this) {
    walk_.add_ring(ring);
}

void AlikeReplay::run(const Machine& machine, Consumer& consumer, const GoesOn& goes_on) {
    machine_ = &machine;
    consumer_ = &consumer;
    goes_on_ = &goes_on;
    walk_.run();
}

bool AlikeReplay::count_columns(size_t, const formats::ColumnBlock& block) {
    times_.clear();
    results_.clear();
    first_ns_ = machine_->simulation.host().clock().now_mono_ns() + 1;
    if (first_ns_ > kTimeMax)
        return false; // each firing has a time of its own, and these end
    const uint64_t drops_before = drops();
    bool is_whole = true;
    for (const formats::LayoutColumns& layout : block.layouts())
        is_whole = is_whole && (layout.count == 0 || fire_layout(layout));
    // Also what is not wanted is taken: the buffer has to have room for the next block.
    if (!times_.empty() && !take_records())
        return false;
    if (!is_whole || drops() != drops_before)
        return false;
    for (const Count& result : results_)
        consumer_->add(*result.statement, result.key, result.cells);
    return true;
}

bool AlikeReplay::fire_layout(const formats::LayoutColumns& layout) {
    const formats::EcbInfo* info = ring_.ecbs.find(layout.record.word & DBK_EPID_MAX);
    if (!info)
        return false;
    const AlikeProgram::Ecb& ecb =
        program_.ecbs[static_cast<size_t>(info - ring_.ecbs.all().data())];
    if (!ecb.fires)
        return true;
    // A record that is not its firing's first may be its second of this ECB: nothing made that.
    if (layout.record.word != info->epid || !is_layout_of(layout.record, *info))
        return false;
    groups_.clear();
    for (const CapturedField& field : ecb.fields)
        if (!groups_.add(layout, info->fields[field.field]))
            return false;
    groups_.divide(layout.count, 1);
    counts_.assign(groups_.numbers().below, 0);
    formats::count_codes(groups_.numbers(), layout.count, counts_);
    groups_.find_first(counts_, examples_);
    auto groups = static_cast<size_t>(
        std::ranges::count_if(counts_, [](uint64_t count) { return count != 0; }));
    if (groups > kGroupsAlways && groups * kRecordsPerGroup > layout.count)
        return false;
    sim::SimProbe& probe = *machine_->probes.at(ecb.probe_id);
    machine_->slots.clear();
    for (const CapturedField& field :
         table_.fields_of(static_cast<size_t>(&ecb - program_.ecbs.data())))
        machine_->slots.set_present(field.slot);
    for (size_t group = 0; group < counts_.size(); group++)
        if (counts_[group] != 0) {
            fill(ecb, examples_[group] - 1);
            fire(probe, counts_[group]);
        }
    return true;
}

void AlikeReplay::fill(const AlikeProgram::Ecb& ecb, size_t record) {
    machine_->slots.clear_strings();
    for (size_t i = 0; i < ecb.fields.size(); i++) {
        bytes_.clear();
        groups_.put(i, record, bytes_);
        machine_->slots.fill(ecb.fields[i], bytes_);
    }
}

void AlikeReplay::fire(sim::SimProbe& probe, uint64_t records) {
    machine_->simulation.host().clock().advance_to(first_ns_ + times_.size());
    times_.push_back(records);
    has_fired_ = true;
    machine_->simulation.fire(probe, machine_->slots.all(), {});
}

/// Reads what the records of its machine mean, which no firing changes.
bool AlikeReplay::describe(std::vector<base::Bytes> metadata) {
    formats::RecordingBuilder builder;
    for (base::Bytes& piece : metadata)
        builder.add_owned(std::move(piece), {.origin = "replay"});
    description_ = builder.build();
    if (!description_->rings.empty())
        meant_.emplace(description_->rings[0]);
    return meant_.has_value();
}

/// Takes the records of the block's firings.  False: one of them does not only aggregate.
bool AlikeReplay::take_records() {
    std::vector<base::Bytes> segments = machine_->simulation.poll_segments();
    if (!meant_ && !describe(machine_->simulation.poll({.status = true}).metadata))
        return false;
    const formats::RingRecording& ring = description_->rings[0];
    for (const base::Bytes& segment : segments) {
        auto header = base::load<dbk_segment_header>(segment.data());
        formats::RecordCursor cursor(segment, header.base_ticks, ring.ecbs);
        for (formats::RecordView record; cursor.next(record);) {
            uint64_t mono_ns = ring.clock.mono_ns(record.ticks);
            if (mono_ns >= first_ns_ && !count(record, times_.at(mono_ns - first_ns_)))
                return false; // earlier ones were of another block
        }
    }
    return true;
}

bool AlikeReplay::count(const formats::RecordView& record, uint64_t times) {
    EcbPlan* plan = meant_->find(record.epid);
    return plan && plan->only_aggregates &&
           std::ranges::all_of(plan->statements, [&](Statement& statement) {
               return count(*plan, statement, record.bytes, times);
           });
}

/// The engine whose aggregations are printed has the same ECBs, and may have other records of them.
bool AlikeReplay::count(EcbPlan& plan, Statement& statement, base::ByteView record,
                        uint64_t times) {
    if (!statement.flat)
        statement.flat = FlatAggregation::of(statement);
    FlatAggregation::Key key;
    if (!statement.problem.empty() || !statement.flat || !statement.flat->read_key(record, key))
        return false;
    EcbPlan* printed = consumer_->program().find(plan.ecb->epid);
    DBK_ASSERT(printed && printed->ecb->probe_id == plan.ecb->probe_id);
    const AggregationFunction& function = statement.layout.function;
    Count& result = results_.emplace_back(Count{printed->find_aggregation(statement.action),
                                                {key.bytes().begin(), key.bytes().end()},
                                                std::vector<uint64_t>(*function.cell_count())});
    function.init(result.cells);
    if (function.kind == DTRACEAGG_COUNT)
        result.cells[0] = times;
    else
        for (uint64_t i = 0; i < times; i++)
            function.update(result.cells, statement.flat->value(record),
                            statement.flat->increment(record));
    return result.statement && result.statement->problem.empty();
}

uint64_t AlikeReplay::drops() const {
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < machine_->simulation.host().cpu_count(); cpu++)
        for (uint64_t drops : dbk_consumer_counters(machine_->simulation.consumer(), cpu)->drops)
            sum += drops;
    return sum;
}

} // namespace daybreak::analyze
