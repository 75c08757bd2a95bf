// SPDX-License-Identifier: Apache-2.0
//
// Simulation: one D program from BEGIN to END on a SimHost.
#include "engine/sim/simulation.hpp"

#include "engine/sim/sim_kernel.hpp"
#include "formats/abi/ioctl.h"
#include "formats/dof/dof_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace daybreak::sim {

using base::errorf;

namespace {

ErrorCode code_of(int error) {
    if (error == -ENOMEM)
        return ErrorCode::limit;
    return error == -E2BIG ? ErrorCode::limit : ErrorCode::invalid;
}

Error refused(int error, const dbk_reason& reason) {
    return Error(code_of(error), reason.text[0] != '\0' ? reason.text : strerror(-error));
}

dbk_segment_header header_at(const std::byte* piece) {
    dbk_segment_header header;
    std::memcpy(&header, piece, sizeof(header));
    return header;
}

bool calls_exit(const formats::DofProgram& program) {
    for (const formats::DofActionList& list : program.action_lists)
        for (const formats::DofAction& action : list.actions)
            if (action.kind == DTRACEACT_EXIT)
                return true;
    return false;
}

void copy_text(char* to, size_t room, const std::string& text) {
    std::memcpy(to, text.data(), std::min(text.size(), room - 1));
}

// A rate option in nanoseconds; 0 and unset mean the default.
uint64_t rate_ns(const dbk_program* program, uint32_t option) {
    uint64_t value = 0;
    if (!dbk_program_option(program, option, &value) || value == 0 || value == DTRACEOPT_UNSET)
        return kNsPerSecond;
    return value;
}

} // namespace

Result<std::unique_ptr<Simulation>> Simulation::load(SimHost& host, ByteView untrusted_dof,
                                                     const SimulationOptions& options) {
    std::unique_ptr<Simulation> simulation(new Simulation(host, options));
    HostScope scope(host);
    DBK_TRY_VOID(simulation->create(untrusted_dof));
    return simulation;
}

Result<void> Simulation::create(ByteView untrusted_dof) {
    dbk_reason reason{};
    int error = dbk_program_load(untrusted_dof.data(), untrusted_dof.size(), &reason, &program_);
    if (error != 0)
        return refused(error, reason);
    dbk_program_restrict(program_, options_.lacks);
    const char* release = "";
    bool typed = false;
    uint8_t btf_id[16] = {};
    if (dbk_program_target(program_, &release, &typed, btf_id) && typed &&
        release != options_.release)
        return errorf(ErrorCode::unsupported,
                      "the program uses the types of kernel %s, which the simulator is not",
                      release);
    dbk_probedesc description{};
    for (uint32_t i = 0; dbk_program_probedesc(program_, i, &description); i++)
        DBK_TRY_VOID(host_.make_named(description));

    DBK_TRY(formats::DofImage image, formats::parse_dof(untrusted_dof));
    time_limit_ns_ = options_.time_limit_ns;
    if (time_limit_ns_ == 0)
        time_limit_ns_ = calls_exit(image.program) ? kExitTimeLimitNs : kTimeLimitNs;
    image_.assign(untrusted_dof.begin(), untrusted_dof.end());
    switch_ns_ = rate_ns(program_, DTRACEOPT_SWITCHRATE);
    aggregate_ns_ = rate_ns(program_, DTRACEOPT_AGGRATE);
    status_ns_ = rate_ns(program_, DTRACEOPT_STATUSRATE);

    if (options_.matched)
        options_.matched(count_matches(image.program));
    dbk_consumer_config config{};
    config.name = options_.name.c_str();
    config.ring_id = options_.ring_id;
    config.destructive = options_.destructive;
    config.aggregate_default = options_.aggregate_default;
    error = dbk_consumer_create(host_.engine(), program_, &config, &reason, &consumer_);
    if (error != 0)
        return refused(error, reason);
    program_ = nullptr;
    taken_sequence_.assign(host_.cpu_count(), 0);
    clean_ns_ = dbk_consumer_clean_interval_ns(consumer_);
    error = dbk_consumer_enable(consumer_, &reason, &matched_);
    if (error != 0)
        return refused(error, reason);
    return {};
}

Simulation::~Simulation() {
    HostScope scope(host_);
    if (consumer_ != nullptr) {
        static_cast<void>(dbk_consumer_stop(consumer_));
        dbk_consumer_destroy(consumer_);
    }
    dbk_program_destroy(program_);
}

uint32_t Simulation::count_matches(const formats::DofProgram& program) const {
    uint32_t count = 0;
    for (const formats::DofEcb& ecb : program.ecbs) {
        // uarg 1 marks the ERROR clause that the compiler adds to every program.
        if (ecb.uarg == 1)
            continue;
        const formats::DofProbeName& name = ecb.probe;
        dbk_probedesc description{name.provider.c_str(), name.module.c_str(), name.function.c_str(),
                                  name.name.c_str(), name.id};
        for (dbk_probe* probe = dbk_engine_probe_at(host_.engine(), 0); probe != nullptr;
             probe = probe->next)
            count += dbk_probedesc_match(&description, probe) ? 1 : 0;
    }
    return count;
}

std::optional<uint64_t> Simulation::lowered(uint32_t option) const {
    uint64_t asked = 0, given = 0;
    if (!dbk_program_option(dbk_consumer_program(consumer_), option, &asked) ||
        !dbk_consumer_size(consumer_, option, &given) || given >= (asked & ~uint64_t{7}))
        return std::nullopt;
    return given;
}

uint32_t Simulation::ecb_count() const {
    formats::Recording found = recording();
    auto image = formats::parse_dof(image_);
    DBK_ASSERT(image.ok());
    uint32_t count = 0;
    for (const formats::RingRecording& ring : found.rings)
        for (const formats::EcbInfo& ecb : ring.ecbs.all()) {
            const formats::DofEcb* desc = image->ecb_at(ecb.ecbdesc);
            // uarg 1 marks the ERROR clause that the compiler adds to every program.
            count += desc != nullptr && desc->uarg == 1 ? 0 : 1;
        }
    return count;
}

Result<void> Simulation::start() {
    HostScope scope(host_);
    int error = dbk_consumer_start(consumer_);
    if (error != 0)
        return errorf(ErrorCode::invalid, "the simulation was started before");
    uint64_t now_ns = host_.clock().now_mono_ns();
    end_mono_ns_ = now_ns + time_limit_ns_;
    switch_due_ns_ = now_ns + switch_ns_;
    aggregate_due_ns_ = now_ns + aggregate_ns_;
    status_due_ns_ = now_ns + status_ns_;
    clean_due_ns_ = now_ns + clean_ns_;
    behind_firing();
    return {};
}

bool Simulation::exit_called() const {
    return dbk_consumer_activity(consumer_) != DBK_ACTIVITY_ACTIVE;
}

bool Simulation::step(SimEnd& end_ret) {
    HostScope scope(host_);
    auto due_ns = host_.next_timer_mono_ns();
    if (exit_called())
        end_ret = SimEnd::exited;
    else if (!due_ns)
        end_ret = SimEnd::idle;
    else if (is_full())
        end_ret = SimEnd::filled;
    else if (*due_ns > end_mono_ns_)
        end_ret = SimEnd::time_limit;
    else if (timer_firings_ >= options_.timer_firings_max)
        end_ret = SimEnd::firing_limit;
    else {
        timer_firings_++;
        clean_until(*due_ns);
        host_.fire_next_timer();
        behind_firing();
        return true;
    }
    return false;
}

/// Cleans if a multiple of cleanrate lies before the next firing: no clause runs in between.
void Simulation::clean_until(uint64_t due_ns) {
    if (clean_ns_ == 0 || due_ns < clean_due_ns_)
        return;
    static_cast<void>(dbk_consumer_clean(consumer_));
    clean_due_ns_ += (due_ns - clean_due_ns_) / clean_ns_ * clean_ns_ + clean_ns_;
}

bool Simulation::is_full() {
    uint64_t now_ns = host_.clock().now_mono_ns();
    if (now_ns < status_due_ns_)
        return false;
    status_due_ns_ = now_ns + status_ns_;
    return has_filled();
}

bool Simulation::has_filled() {
    if (dbk_consumer_ring(consumer_)->policy != DBK_POLICY_FILL)
        return false;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++)
        if (dbk_consumer_counters(consumer_, cpu)->drops[DBK_DROP_FILLED] != 0)
            return true;
    return false;
}

void Simulation::fire(SimProbe& probe, std::span<const uint64_t> args, const SimSite& site) {
    HostScope scope(host_);
    clean_until(host_.clock().now_mono_ns());
    host_.fire(probe, args, site);
    behind_firing();
}

void Simulation::finish() {
    HostScope scope(host_);
    take_aggregations();
    static_cast<void>(dbk_consumer_stop(consumer_));
    take_aggregations();
    take_segments(true);
}

Result<SimEnd> Simulation::run(const std::function<bool()>& stop) {
    DBK_TRY_VOID(start());
    SimEnd end = SimEnd::interrupted;
    while (!(stop && stop()) && step(end)) {
    }
    wait_for_status();
    finish();
    return end;
}

void Simulation::wait_for_status() {
    if (!exit_called())
        return;
    uint64_t now_ns = host_.clock().now_mono_ns();
    while (status_due_ns_ <= now_ns)
        status_due_ns_ += status_ns_;
    host_.clock().advance_to(status_due_ns_);
}

void Simulation::behind_firing() {
    uint64_t records = 0;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++)
        records += dbk_consumer_counters(consumer_, cpu)->records;
    uint64_t now_ns = host_.clock().now_mono_ns();
    if (records != records_seen_ || now_ns >= aggregate_due_ns_) {
        take_aggregations();
        records_seen_ = records;
        aggregate_due_ns_ = now_ns + aggregate_ns_;
    }
    if (now_ns >= switch_due_ns_) {
        if (dbk_consumer_ring(consumer_)->policy == DBK_POLICY_SWITCH)
            take_segments(false);
        switch_due_ns_ = now_ns + switch_ns_;
    }
}

void Simulation::take_aggregations() {
    if (dbk_consumer_ring(consumer_)->aggregate != DBK_AGGREGATE_ENGINE)
        return;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++) {
        uint32_t bytes = 0;
        const void* image = nullptr;
        if (dbk_consumer_agg_snapshot(consumer_, cpu, &bytes, &image) != 0)
            continue;
        const auto* first = static_cast<const std::byte*>(image);
        snapshots_.emplace_back(first, first + bytes);
    }
}

uint64_t Simulation::newest_sequence(uint32_t cpu) const {
    uint32_t segment_bytes = dbk_consumer_ring(consumer_)->segment_bytes;
    uint64_t newest = 0;
    dbk_region region{};
    for (uint32_t i = 0; dbk_consumer_region(consumer_, i, &region); i++) {
        if (region.kind != DBK_REGION_SEGMENTS || region.cpu != cpu)
            continue;
        const auto* base = static_cast<const std::byte*>(region.pages->address);
        for (uint32_t at = 0; at + segment_bytes <= region.pages->bytes; at += segment_bytes)
            newest = std::max(newest, header_at(base + at).sequence);
    }
    return newest;
}

void Simulation::take_segment(const std::byte* segment, uint32_t cpu, uint64_t below_sequence) {
    dbk_segment_header header = header_at(segment);
    if (header.magic == DBK_SEGMENT_MAGIC && header.sequence > taken_sequence_[cpu] &&
        header.sequence < below_sequence)
        segments_.emplace_back(segment, segment + header.segment_bytes);
}

// Takes each CPU's segments that were not taken before; the one being written only on request.
void Simulation::take_segments(bool open_ones_too) {
    uint32_t segment_bytes = dbk_consumer_ring(consumer_)->segment_bytes;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++) {
        uint64_t newest = newest_sequence(cpu);
        if (newest == 0)
            continue;
        dbk_region region{};
        for (uint32_t i = 0; dbk_consumer_region(consumer_, i, &region); i++) {
            if (region.kind != DBK_REGION_SEGMENTS || region.cpu != cpu)
                continue;
            const auto* base = static_cast<const std::byte*>(region.pages->address);
            for (uint32_t at = 0; at + segment_bytes <= region.pages->bytes; at += segment_bytes)
                take_segment(base + at, cpu, open_ones_too ? newest + 1 : newest);
        }
        taken_sequence_[cpu] = open_ones_too ? newest : newest - 1;
        dbk_consumer_release(consumer_, cpu, taken_sequence_[cpu]);
    }
}

SimulationPieces Simulation::take_new(bool all_segments) {
    HostScope scope(host_);
    SimulationPieces pieces;
    take_aggregations();
    if (all_segments || dbk_consumer_ring(consumer_)->policy == DBK_POLICY_SWITCH) {
        take_segments(false);
        add_open_segments(segments_);
    }
    pieces.metadata = metadata_blocks();
    pieces.segments = std::exchange(segments_, {});
    pieces.aggregations = std::exchange(snapshots_, {});
    return pieces;
}

/// Adds a copy of the newest segment of each CPU, which stays the ring's.
void Simulation::add_open_segments(std::vector<Bytes>& segments) const {
    uint32_t segment_bytes = dbk_consumer_ring(consumer_)->segment_bytes;
    for (uint32_t cpu = 0; cpu < host_.cpu_count(); cpu++) {
        uint64_t newest = newest_sequence(cpu);
        dbk_region region{};
        for (uint32_t i = 0; newest != 0 && dbk_consumer_region(consumer_, i, &region); i++) {
            if (region.kind != DBK_REGION_SEGMENTS || region.cpu != cpu)
                continue;
            const auto* base = static_cast<const std::byte*>(region.pages->address);
            for (uint32_t at = 0; at + segment_bytes <= region.pages->bytes; at += segment_bytes)
                if (header_at(base + at).magic == DBK_SEGMENT_MAGIC &&
                    header_at(base + at).sequence == newest && newest > taken_sequence_[cpu])
                    segments.emplace_back(base + at, base + at + segment_bytes);
        }
    }
}

Bytes Simulation::host_block() const {
    Bytes block(DBK_META_ALIGN_BYTES);
    dbk_meta_host facts{};
    uint64_t boot_id = host_.boot_id();
    std::memcpy(facts.boot_uuid, &boot_id, sizeof(boot_id));
    facts.kernel_text_start = kKernelTextStart;
    facts.cpu_count = host_.cpu_count();
    facts.page_bytes = DBK_META_ALIGN_BYTES;
    copy_text(facts.release, sizeof(facts.release), options_.release);
    copy_text(facts.version, sizeof(facts.version), "daybreak sim");
    copy_text(facts.machine, sizeof(facts.machine), "x86_64");
    dbk_pages pages{block.data(), 0, static_cast<uint32_t>(block.size()), 0, nullptr};
    dbk_meta_block_init(&pages, DBK_META_HOST, host_.boot_id(), 0);
    DBK_ASSERT(dbk_meta_block_append(&pages, &facts, sizeof(facts)));
    return block;
}

std::vector<Bytes> Simulation::all_pieces() const {
    std::vector<Bytes> pieces = segments_;
    for (Bytes& block : metadata_blocks())
        pieces.push_back(std::move(block));
    return pieces;
}

std::vector<Bytes> Simulation::metadata_blocks() const {
    std::vector<Bytes> pieces{host_block()};
    dbk_region region{};
    for (uint32_t i = 0; dbk_consumer_region(consumer_, i, &region); i++) {
        if (region.kind != DBK_REGION_META)
            continue;
        const auto* base = static_cast<const std::byte*>(region.pages->address);
        pieces.emplace_back(base, base + region.pages->bytes);
    }
    return pieces;
}

formats::Recording Simulation::recording() const {
    formats::RecordingBuilder builder;
    for (Bytes& piece : all_pieces())
        builder.add_owned(std::move(piece), {.origin = "simulation"});
    for (const Bytes& snapshot : snapshots_)
        builder.add_owned(snapshot, {.origin = "aggregation snapshot"});
    return builder.build({.boot_id = host_.boot_id()});
}

Result<formats::TraceSummary>
Simulation::write_trace_file(const std::string& path, const formats::TraceHeader& header) const {
    std::vector<Bytes> pieces = all_pieces();
    std::vector<formats::TraceRegion> regions;
    for (const Bytes& piece : pieces)
        regions.push_back({piece, "simulation"});
    return formats::write_trace(path, header, regions, snapshots_, kernel_symbols());
}

} // namespace daybreak::sim
