// SPDX-License-Identifier: Apache-2.0
//
// Replay: a D program run over recordings, by the engine that ran the recorded one.
#include "analyze/replay/replay.hpp"

#include "analyze/decode/time_span.hpp"
#include "analyze/replay/asked_probes.hpp"
#include "analyze/replay/engine_counts.hpp"
#include "formats/dof/dof_reader.hpp"
#include "formats/dof/dof_writer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace daybreak::analyze {

namespace {

/// Whether records of probes without a clause may be passed over: else the last record in a window
/// is not known, and what a commit() released is distinguished from its firing by what stands
/// between.
bool may_pass_others(const ReplayedRecording& one) {
    return !one.window.is_set() && !one.recording->cut_window &&
           std::ranges::none_of(one.ring().ecbs.all(), [](const formats::EcbInfo& ecb) {
               return (ecb.flags & DBK_ECB_F_SPECULATES) != 0;
           });
}

bool is_user_stack(const formats::DofAction& action) {
    return action.kind == DTRACEACT_USTACK || action.kind == DTRACEACT_JSTACK;
}

bool has_stacks(const formats::DofProgram& program) {
    return std::ranges::any_of(program.action_lists, [](const formats::DofActionList& list) {
        return std::ranges::any_of(list.actions, [](const formats::DofAction& action) {
            return action.kind == DTRACEACT_STACK || is_user_stack(action);
        });
    });
}

/// Returns how many user stacks a record of the program has at most.
uint64_t user_stacks_in_record(const formats::DofProgram& program) {
    int64_t most = 0;
    for (const formats::DofActionList& list : program.action_lists)
        most = std::max(most, std::ranges::count_if(list.actions, is_user_stack));
    return static_cast<uint64_t>(most);
}

/// Asks for bytes of the stack with user stacks, if the program says nothing of it: as many as the
/// records have, and fit, in segments that are large enough unless it says how large.  Returns
/// whether it did.
bool ask_for_stack_bytes(formats::DofProgram& program, uint64_t recorded_bytes) {
    constexpr uint64_t kRecordMax = DBK_RECORD_BYTES_MAX, kSegmentMin = DBK_SEGMENT_BYTES_DEFAULT;
    constexpr uint64_t kBesideBytes = 1280; // of a stack: a hundred frames, and of the other values
    uint64_t segment_bytes = 0;
    for (const formats::DofOption& option : program.options) {
        if (option.option == DBK_OPT_USTACKBYTES)
            return false;
        if (option.option == DBK_OPT_SEGMENTSIZE)
            segment_bytes = option.value;
    }
    const uint64_t stacks = user_stacks_in_record(program);
    if (recorded_bytes == 0 || stacks == 0)
        return false;
    if (segment_bytes == 0) {
        segment_bytes = std::bit_ceil(2 * std::min(stacks * recorded_bytes, kRecordMax));
        segment_bytes = std::max(segment_bytes, kSegmentMin);
        program.options.push_back({DBK_OPT_SEGMENTSIZE, segment_bytes, std::nullopt});
    }
    const uint64_t room = std::min(segment_bytes, kRecordMax) / stacks;
    uint64_t bytes = std::min({recorded_bytes, segment_bytes / 2, uint64_t{DBK_USTACKBYTES_MAX},
                               room - std::min(room, kBesideBytes)});
    program.options.push_back({DBK_OPT_USTACKBYTES, bytes, std::nullopt});
    return true;
}

} // namespace

Replay::Replay(const ReplayedProbes& probes, const ReplayOptions& options)
    : probes_(probes), recordings_(probes.recordings()), options_(options),
      covered_(is_of_several() ? recordings_ : std::span<const ReplayedRecording>()),
      choices_(recordings_.size()), asked_(recordings_.size()) {}

base::Result<std::unique_ptr<ReplayMachine>> Replay::make_machine(base::ByteView dof) const {
    uint64_t begin_ns = is_of_several() ? covered_.begin_ns() : begin_of(recordings_[0]);
    return ReplayMachine::create(probes_, begin_ns,
                                 {options_.release, options_.destructive,
                                  options_.timer_firings_max, options_.places, places_stacks_},
                                 dof);
}

/// Fires the timers that are due before a record, and goes to its time.
void Replay::fire_timers(uint64_t common_ns, LiveReport& report) {
    sim::SimEnd end = sim::SimEnd::idle;
    for (; !is_over(); next_timer_ns_ = machine_->host().next_timer_mono_ns()) {
        if (!next_timer_ns_ || *next_timer_ns_ > common_ns)
            break;
        if (ticks_ ? ticks_->take_recorded(*next_timer_ns_)
                   : covered_.skip(*next_timer_ns_, machine_->timers()))
            continue;
        machine_->set_no_thread();
        machine_->slots().clear();
        machine_->leave(*next_timer_ns_);
        if (timers_ended_ || !machine_->simulation().step(end)) {
            timers_ended_ = timers_ended_ || end == sim::SimEnd::firing_limit;
            break;
        }
        firings_++;
        since_poll_++;
        poll_when_due(report);
    }
    machine_->host().clock().advance_to(common_ns);
}

bool Replay::is_poll_due() const {
    const Polled& cpu = polled_[machine_->host().cpu()];
    return since_poll_ >= firings_per_poll_ || cpu.counters->bytes - cpu.bytes >= kBytesPerPoll;
}

/// Whether firings_per_poll_ firings more cannot fill what aggregations are kept in, nor a buffer
/// of records: most count what they counted before.
bool Replay::has_room() const {
    const dbk_consumer* consumer = machine_->simulation().consumer();
    for (uint32_t cpu = 0; cpu < polled_.size(); cpu++)
        if (polled_[cpu].counters->bytes != polled_[cpu].bytes ||
            dbk_consumer_agg_used(consumer, cpu) > kept_bytes_ / 2)
            return false;
    return kept_bytes_ != 0;
}

void Replay::poll_when_due(LiveReport& report) {
    if (!is_poll_due())
        return;
    if (!has_room())
        return poll(report);
    since_poll_ = 0;
    static_cast<void>(has_to_stop());
}

void Replay::poll(LiveReport& report, bool is_last) {
    since_poll_ = 0;
    static_cast<void>(has_to_stop());
    // Where nothing was recorded no segment is looked at: most are far from any cache.
    formats::Readings wanted = {.status = true, .aggregations = true, .records = is_last};
    for (Polled& cpu : polled_)
        wanted.records |= std::exchange(cpu.bytes, cpu.counters->bytes) != cpu.counters->bytes;
    if (options_.places)
        options_.places->settle();
    report.add(machine_->simulation().poll(wanted), wanted);
}

/// Says how far it is, and asks whether it was interrupted.
bool Replay::has_to_stop() {
    if (merge_)
        records_ = records_alike_ + merge_->passed();
    if (options_.progress)
        options_.progress(records_);
    was_interrupted_ = was_interrupted_ || (options_.interrupted && options_.interrupted());
    return was_interrupted_;
}

/// Fires BEGIN, with what was recorded of it if that is the firing at hand.
base::Result<void> Replay::begin(bool has_record) {
    has_started_ = true;
    machine_->slots().clear();
    if (has_record)
        machine_->take(merge_->reader(), 0);
    begin_ns_ = machine_->host().clock().now_mono_ns();
    begin_cpu_ = static_cast<uint16_t>(machine_->host().cpu());
    DBK_TRY_VOID(machine_->simulation().start());
    next_timer_ns_ = machine_->host().next_timer_mono_ns();
    machine_->host().set_own_site({});
    return {};
}

/// Fires the probe of the firing at hand.
base::Result<void> Replay::fire(LiveReport& report) {
    const FiringReader& reader = merge_->reader();
    const Route& route = reader.route();
    if (!has_started_) {
        bool is_begin = route.is_begin && !is_of_several();
        DBK_TRY_VOID(begin(is_begin));
        if (is_begin)
            return {};
    }
    pass_time(merge_->common_ns(), report);
    FiringSlots& slots = machine_->slots();
    slots.clear();
    machine_->take(reader, merge_->recording());
    if (route.probe && !is_over() && reader.has_anchor()) {
        machine_->simulation().fire(*route.probe, slots.all(), machine_->host().own_site());
        has_fired_ |= route.probe->probe.ecbs != nullptr;
        firings_++;
    }
    since_poll_++;
    poll_when_due(report);
    return {};
}

/// After exit() END finds what was recorded of it, if it is not far: other CPUs went on a while.
/// END of several recordings is of none of them.
void Replay::find_end() {
    sim::BareHost& host = machine_->host();
    if (is_of_several()) {
        machine_->slots().clear();
        host.clock().advance_to(host.clock().now_mono_ns() + 1); // after what any CPU did last
        machine_->leave(host.clock().now_mono_ns());
        machine_->set_no_thread();
        host.set_cpu(0);
        host.set_own_site({});
        return;
    }
    const FiringReader& reader = merge_->reader();
    for (uint64_t seen = 0; seen < kRecordsToEnd && is_over() && merge_->next();
         seen += reader.records().size()) {
        if (!reader.route().is_end)
            continue;
        machine_->slots().clear();
        machine_->take(reader, 0);
        host.clock().advance_to(reader.mono_ns());
        return;
    }
}

/// Makes the machine; its engine keeps the aggregations itself where that is the same.
base::Result<void> Replay::load(base::ByteView dof, formats::DofProgram program) {
    places_stacks_ = has_stacks(program);
    base::Bytes changed;
    // Where addresses become places stacks have been unwound.
    uint64_t stack_bytes = 0;
    for (const ReplayedRecording& one : recordings_)
        stack_bytes = std::max(stack_bytes, one.table->stack_bytes());
    bool is_changed = !options_.places && ask_for_stack_bytes(program, stack_bytes);
    if (auto counts = EngineCounts::of(program, ReplayMachine::cpus_of(recordings_))) {
        firings_per_poll_ = counts->firings_max;
        kept_bytes_ = counts->buffer_bytes;
        counts->apply(program);
        is_changed = true;
    }
    if (is_changed) {
        DBK_TRY(changed, formats::write_dof(program));
        dof = changed;
    }
    DBK_TRY(machine_, make_machine(dof));
    for (uint32_t cpu = 0; cpu < machine_->host().cpu_count(); cpu++)
        polled_.push_back({dbk_consumer_counters(machine_->simulation().consumer(), cpu), 0});
    return {};
}

/// Lets records that are alike count at once, if the program is one for which that is the same.
base::Result<void> Replay::run_alike(base::ByteView dof, const formats::DofProgram& program,
                                     LiveReport& report) {
    std::unique_ptr<ReplayMachine> beside;
    for (size_t i = 0; i < recordings_.size(); i++) {
        std::optional<AlikeProgram> same = AlikeProgram::of(program, probes_, i);
        if (!same)
            continue;
        if (!has_started_)
            DBK_TRY_VOID(begin(false));
        poll(report);
        Consumer* consumer = report.consumer();
        if (is_over() || !consumer)
            return {};
        if (!beside) {
            DBK_TRY(beside, make_machine(dof));
            DBK_TRY_VOID(beside->simulation().start());
        }
        beside->enter(i, 0);
        const ReplayedRecording& one = recordings_[i];
        auto alike = std::make_unique<AlikeReplay>(*one.recording, one.ring_index, *one.table,
                                                   one.window, std::move(*same));
        alike->run({beside->simulation(), beside->probes()[i], beside->slots()}, *consumer,
                   [&](uint64_t records) {
                       records_ = records_alike_ + records;
                       return !has_to_stop();
                   });
        records_ = records_alike_ += alike->records();
        has_fired_ |= alike->has_fired();
        choices_[i].tallied = &alike->tallied();
        alike_.push_back(std::move(alike));
    }
    return {};
}

/// Says which records are read of each recording.
void Replay::choose(const formats::DofProgram& program) {
    for (size_t i = 0; i < recordings_.size(); i++) {
        choices_[i].window = recordings_[i].window;
        if (!may_pass_others(recordings_[i]))
            continue;
        asked_[i] = asked_ecbs(program, probes_, i);
        choices_[i].yielded = &*asked_[i];
    }
}

/// Time goes on to the last record also where it was passed over.
void Replay::pass_last(LiveReport& report) {
    if (is_over())
        return;
    uint64_t last_ns = 0;
    std::optional<uint16_t> cpu;
    for (size_t i = 0; i < recordings_.size(); i++) {
        bool is_passed = asked_[i] || !alike_.empty();
        auto last =
            is_passed ? last_record_in(recordings_[i].window, recordings_[i].ring()) : std::nullopt;
        if (!last)
            continue;
        last_ns = std::max(last_ns, recordings_[i].common_ns(last->mono_ns));
        cpu = last->cpu;
    }
    if (last_ns != 0)
        pass_time(last_ns, report);
    if (cpu && !is_of_several())
        machine_->host().set_cpu(*cpu); // where END fires, as if all had fired
}

base::Result<void> Replay::run(base::ByteView dof, LiveReport& report) {
    DBK_TRY(formats::DofImage image, formats::parse_dof(dof));
    DBK_TRY_VOID(load(dof, image.program));
    if (!is_of_several())
        ticks_.emplace(*recordings_[0].recording, recordings_[0].ring_index, *recordings_[0].table,
                       machine_->probes()[0]);
    DBK_TRY_VOID(run_alike(dof, image.program, report));
    choose(image.program);
    merge_.emplace(recordings_, machine_->probes(), choices_);
    sim::HostScope scope(machine_->host()); // of all firings: each would open one
    while (!is_over() && merge_->next())
        DBK_TRY_VOID(fire(report));
    if (!has_started_)
        DBK_TRY_VOID(begin(false));
    pass_last(report);
    find_end();
    machine_->simulation().finish();
    poll(report, true);
    if (machine_->simulation().exit_called())
        exit_status_ = machine_->simulation().exit_status();
    drops_ = machine_->drops();
    report.newline();
    report.end();
    return {};
}

} // namespace daybreak::analyze
