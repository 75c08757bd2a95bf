// SPDX-License-Identifier: Apache-2.0
//
// The loop: look, copy, hand to the writer, wait (docs/design/0022-following.md).
#include "recorder/follow/follower.hpp"

#include "formats/abi/drops.h"
#include "formats/segment/recording.hpp"
#include "formats/trace/reader.hpp"
#include "recorder/follow/held.hpp"
#include "recorder/follow/rings.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace daybreak::recorder {

namespace {

using base::errorf;
using base::strprintf;
using formats::SkipCause;

constexpr uint64_t kWaitMinNs = 50'000'000, kWaitMaxNs = 2'000'000'000;
/// A CPU's ring is looked at this often in the time it needs to wrap.
constexpr uint64_t kLooksPerRound = 4;
/// Of one CPU at a time, so that none keeps the others waiting.
constexpr size_t kCopyBytesMax = 4u << 20;
constexpr int kLooksMax = 1000;
constexpr uint64_t kDeviceRetryNs = 2'000'000'000;
/// Counters and the kernel's log are written this often.
constexpr uint64_t kRestlessNs = 10'000'000'000;
/// Regions are listed anew when their count changed, and this often in any case.
constexpr uint64_t kListNs = 10'000'000'000;

struct DropName {
    const char* name;
    size_t slot;
};

constexpr DropName kDropNames[] = {
#define DBK_DROP_NAME(name, slot, tag, text) {tag, slot},
    DBK_DROPS(DBK_DROP_NAME)
#undef DBK_DROP_NAME
};

class Follower {
public:
    Follower(FollowHost& host, FolderApi& folder, SymbolSource& symbols,
             const FollowOptions& options)
        : host_(host), folder_(folder), symbol_source_(symbols), options_(options),
          rings_(options.rings),
          series_(
              folder, options.series, make_header(), [this] { return host_.clocks(); }, say()),
          queue_(series_, say(), options.queue_bytes) {
        std::memcpy(&boot_id_, options.header.boot_uuid.data(), sizeof(boot_id_));
        boot_ = boot_name(options.header.boot_uuid);
        status_.boot_id = formats::boot_name(boot_id_);
        status_.disk.max_bytes = static_cast<double>(options.series.total_bytes_max);
        status_.started_at = seconds(host.clocks().wall_ns);
        began_ns_ = host.clocks().mono_ns;
    }

    Result<FollowSummary> run() {
        DBK_TRY_VOID(series_.scan());
        DBK_TRY_VOID(find_rings());
        read_own_files();
        if (options_.threaded)
            queue_.start_thread();
        write_symbols();
        FollowEvents events;
        while (!events.stop) {
            uint64_t now_ns = host_.clocks().mono_ns;
            bool sync = now_ns >= next_sync_ns_;
            if (sync)
                next_sync_ns_ = now_ns + options_.sync_ns;
            look(sync || events.rotate || events.trigger);
            if (events.trigger)
                pin("signal", host_.clocks());
            if (sync)
                end_sync();
            if (events.rotate)
                add(WriteJob::Kind::rotate);
            if (!options_.threaded)
                queue_.drain();
            events = host_.wait(wait_ns(now_ns));
        }
        return finish();
    }

private:
    using CpuKey = std::pair<uint16_t, uint16_t>; // id in the files, CPU
    struct Counted {
        uint64_t mono_ns = 0;
        double records = 0;
    };

    FileSeries::Say say() {
        return [this](const std::string& line) { host_.say(line); };
    }

    formats::TraceHeader make_header() const {
        formats::TraceHeader header = options_.header;
        header.origin = formats::TraceOrigin::snapshot;
        Result<std::string> modules = symbol_source_.modules();
        if (modules.ok())
            header.modules = parse_modules(modules.value());
        return header;
    }

    void add(WriteJob::Kind kind) {
        WriteJob job;
        job.kind = kind;
        queue_.add(std::move(job));
    }

    /// What a failing disk lost while the rest was written is copied again, too.
    Result<FollowSummary> finish() {
        uint64_t end_ns = host_.clocks().mono_ns + options_.finish_ns;
        auto left_ns = [&] { return end_ns - std::min(end_ns, host_.clocks().mono_ns); };
        bool done = false;
        do {
            restless_ns_ = 0;
            look(true);
            end_sync();
            done = queue_.wait_empty(left_ns());
        } while (done && go_back());
        add(WriteJob::Kind::rotate);
        done = queue_.finish(done ? left_ns() : 0) && done;
        WriteState disk = queue_.state();
        publish(disk);
        if (!done)
            return errorf(ErrorCode::io, "not all could be written: %s",
                          disk.error.empty() ? "the disk is too slow" : disk.error.c_str());
        summary_.file_bytes = disk.bytes_written;
        return summary_;
    }

    // ---- the device and its rings

    Result<void> open_device() {
        DBK_TRY(device_, host_.open_device());
        Result<dbk_ioc_status> status = check_version(*device_);
        if (status.ok())
            return {};
        device_.reset();
        return std::move(status).error();
    }

    /// Finds out which rings there are now.
    Result<void> update_rings() {
        bool opened = !device_;
        if (opened)
            DBK_TRY_VOID(open_device());
        DBK_TRY(dbk_ioc_status status, device_->status());
        uint64_t now_ns = host_.clocks().mono_ns;
        bool same = status.ring_count == listed_.ring_count &&
                    status.region_count == listed_.region_count && now_ns < next_list_ns_;
        if (opened || !same) {
            DBK_TRY_VOID(rings_.update(*device_));
            if (opened)
                DBK_TRY_VOID(enable_programs());
            listed_ = status;
            next_list_ns_ = now_ns + kListNs;
        }
        if (!rings_.empty())
            return {};
        rings_.clear(); // a module that nothing records in can be unloaded
        device_.reset();
        trigger_sequence_ = 0; // another load counts anew
        std::string reason(status.reason, strnlen(status.reason, sizeof(status.reason)));
        return errorf(ErrorCode::not_found, "nothing records: %s",
                      !options_.rings.empty()
                          ? "the rings that --ring names are not there"
                      : reason.empty() ? "the module was loaded without a program, or it was "
                                         "claimed; enable a program with -s, or wait with --wait"
                                       : reason.c_str());
    }

    /// Enables the programs that no ring has yet, and lets them go: they outlive this process.
    Result<void> enable_programs() {
        for (const NamedProgram& program : options_.programs) {
            uint16_t there = 0;
            for (auto& [id, ring] : rings_.rings())
                there = has_program(ring.metadata(), program.dof) ? id : there;
            if (there == 0) {
                DBK_TRY(there, device_->enable(program.dof, program.name));
                if (std::string remark = device_->remark(); !remark.empty())
                    host_.say(remark);
                DBK_TRY_VOID(device_->detach(there));
            }
            rings_.want(there);
            DBK_TRY_VOID(rings_.update(*device_));
        }
        return {};
    }

    /// Waits for the device and a ring when that is wanted.
    Result<void> find_rings() {
        for (;;) {
            Result<void> found = update_rings();
            bool absent = !found.ok() && found.error().code() == ErrorCode::not_found;
            if (!absent || !options_.wait)
                return found;
            publish(queue_.state());
            if (host_.wait(kDeviceRetryNs).stop)
                return errorf(ErrorCode::interrupted, "interrupted; there was nothing to record");
        }
    }

    /// Finds out what of the rings' content is in the files already.
    void read_own_files() {
        for (auto& [id, ring] : rings_.rings())
            for (auto& [cpu, tail] : ring.cpus)
                tail.look();
        std::vector<SeriesFile> files = series_.files();
        for (size_t i = files.size(); i-- > 0 && !is_enough();) {
            if (files[i].parts.boot != boot_)
                break;
            // What a killed recorder left unsynced counts once it is on the disk.
            Result<void> synced = folder_.sync_file(files[i].name);
            Result<Bytes> content = folder_.read(files[i].name);
            if (!synced.ok() || !content.ok()) {
                host_.say((synced.ok() ? content.error() : synced.error()).message());
                continue;
            }
            auto [first_ns, last_ns] = held_.add_file(content.value(), boot_id_);
            series_.set_times(files[i].name, first_ns, last_ns);
        }
        ids_ = held_.ids();
        restarted_ = !held_.empty();
    }

    bool is_enough() {
        for (auto& [id, ring] : rings_.rings())
            for (auto& [cpu, tail] : ring.cpus) {
                uint64_t lowest = held_.lowest(id, cpu);
                if (tail.newest() != 0 &&
                    (lowest == 0 || lowest > tail.oldest() ||
                     !held_.holes(id, cpu, tail.oldest(), tail.newest()).empty()))
                    return false;
            }
        return true;
    }

    void write_symbols() {
        Result<std::string> text = symbol_source_.kallsyms();
        auto table = std::make_shared<formats::SymbolTable>();
        if (text.ok())
            parse_kallsyms(text.value(), *table);
        if (table->empty()) {
            host_.say("the kernel shows no symbols: stacks will be numbers (/proc/kallsyms is hidden by "
                      "ProtectKernelTunables=, kernel.kptr_restrict, or for want of CAP_SYSLOG)");
            return;
        }
        WriteJob job;
        job.kind = WriteJob::Kind::symbols;
        job.symbols = std::move(table);
        queue_.add(std::move(job));
    }

    /// A ring that is new: what it is called in the files, and where its CPUs begin.
    void begin(FollowedRing& ring, const std::vector<Bytes>& metadata) {
        std::optional<dbk_meta_ring> facts = ring_facts(metadata);
        if (ring.ring_id == 0 || !facts) {
            ring.file_id = ring.ring_id;
        } else {
            ring.file_id = ids_.id_of(ring.ring_id, facts->start_mono_ns);
            ring.aggregates = facts->aggregate == DBK_AGGREGATE_ENGINE;
            aggbuf_bytes_[ring.file_id] = facts->aggbuf_bytes;
        }
        for (auto& [cpu, tail] : ring.cpus)
            begin(ring, cpu, tail, facts && facts->start_mono_ns >= began_ns_);
        ring.is_new = false;
    }

    /// Where a CPU begins: after what the files hold, else with the oldest segment there is.  What
    /// a CPU records that was seen without a segment is this recorder's from the first on, and so
    /// is all of a ring that is younger than the recorder.
    void begin(const FollowedRing& ring, uint16_t cpu, CpuTail& tail, bool is_younger) {
        tail.look();
        auto left = left_.find({ring.file_id, cpu});
        CpuPosition at = left != left_.end() ? left->second : held_.position(ring.file_id, cpu);
        if (at.next == 0 && (is_younger || tail.newest() == 0))
            at.next = 1;
        tail.start_at(at);
        if (left != left_.end())
            return;
        for (uint64_t hole : held_.holes(ring.file_id, cpu, tail.oldest(), tail.newest()))
            tail.go_back(hole);
        for (uint64_t cut : held_.cut(ring.file_id, cpu, tail))
            tail.go_back(cut);
    }

    // ---- copying

    /// Copies what is new in all rings; what changes all the time too when `all`.
    void look(bool all) {
        Result<void> found = update_rings();
        if (!found.ok() && found.error().message() != said_)
            host_.say(found.error().message());
        said_ = found.ok() ? "" : found.error().message();
        fastest_round_ns_ = UINT64_MAX;
        go_back();
        uint64_t now_ns = host_.clocks().mono_ns;
        restless_ = all && now_ns >= restless_ns_;
        if (restless_)
            restless_ns_ = now_ns + kRestlessNs;
        status_.rings.clear();
        for (auto at = rings_.rings().begin(); at != rings_.rings().end();) {
            FollowedRing& ring = at->second;
            bool last = !ring.listed;
            look_at(ring, all || last, last);
            if (last && ring.ring_id != 0)
                end(ring);
            at = last ? rings_.rings().erase(at) : std::next(at);
        }
        restarted_ = false; // what is missed from now on, this recorder missed
        looked_before_ = true;
        looked_ns_ = now_ns;
    }

    void look_at(FollowedRing& ring, bool all, bool last) {
        std::vector<Bytes> metadata;
        if (ring.is_new || all)
            metadata = ring.metadata();
        if (ring.is_new) {
            begin(ring, metadata);
            put_metadata(ring, metadata, true); // a file that is cut still explains its segments
        }
        for (auto& [cpu, tail] : ring.cpus)
            if (tail.position().next == 0 && tail.newest() == 0) // it has just got its memory
                begin(ring, cpu, tail, true);
        if (ring.ring_id == 0)
            take_triggers(metadata);
        std::map<uint16_t, dbk_meta_cpu> counters = cpu_counters(metadata);
        for (auto& [cpu, tail] : ring.cpus) {
            auto counted = counters.find(cpu);
            if (counted != counters.end())
                tail.set_oldest(counted->second.oldest_sequence);
            take(ring, cpu, tail, all);
        }
        if (all && ring.aggregates && !last)
            take_aggregations(ring);
        // After the segments: what a record refers to is in the metadata by then.
        if (all)
            put_metadata(ring, ring.metadata(), last);
        if (all)
            note_status(ring, metadata, counters);
    }

    void put_metadata(FollowedRing& ring, std::vector<Bytes> blocks, bool last) {
        for (Bytes& block : blocks)
            if (ring.file_id != ring.ring_id)
                set_ring_id(block, ring.file_id);
        for (Bytes& block : metadata_.changed(blocks, restless_ || last)) {
            WriteJob job;
            job.kind = WriteJob::Kind::metadata;
            job.bytes = std::move(block);
            queue_.add(std::move(job));
        }
    }

    void put_piece(const FollowedRing& ring, Bytes piece) {
        if (ring.file_id != ring.ring_id)
            set_ring_id(piece, ring.file_id);
        summary_.bytes += piece.size();
        WriteJob job;
        job.bytes = std::move(piece);
        queue_.add(std::move(job));
    }

    void take(FollowedRing& ring, uint16_t cpu, CpuTail& tail, bool open_too) {
        CpuKey key{ring.file_id, cpu};
        uint64_t before = tail.position().next;
        TailStep step = TailStep::again;
        for (int looks = 0; step != TailStep::done && looks < kLooksMax; looks++) {
            if (!options_.threaded)
                queue_.drain();
            size_t room = std::min(queue_.room_bytes(), kCopyBytesMax);
            if (room < DBK_SEGMENT_BYTES_MAX) {
                hindered_[key] = queue_.hindrance();
                break;
            }
            std::vector<TailSegment> segments;
            std::vector<TailGap> gaps;
            step = tail.take(open_too, room, segments, gaps);
            for (const TailGap& gap : gaps)
                skip(key, gap);
            for (TailSegment& segment : segments)
                put_piece(ring, std::move(segment.bytes));
        }
        if (step == TailStep::done)
            hindered_.erase(key);
        uint64_t opened =
            before == 0 ? 0 : tail.position().next - std::min(before, tail.position().next);
        uint64_t now_ns = host_.clocks().mono_ns;
        if (opened != 0 && now_ns > looked_ns_)
            fastest_round_ns_ =
                std::min(fastest_round_ns_, (now_ns - looked_ns_) * tail.slots() / opened);
    }

    void skip(CpuKey key, const TailGap& gap) {
        uint64_t count = gap.last - gap.first + 1;
        auto hindered = hindered_.find(key);
        SkipCause cause = !gap.overwritten              ? SkipCause::damaged
                          : gap.again                   ? SkipCause::disk_error
                          : hindered != hindered_.end() ? hindered->second
                          : restarted_                  ? SkipCause::not_running
                                                        : SkipCause::overrun;
        summary_.skipped += count;
        skipped_[key] += count;
        WriteJob job;
        job.kind = WriteJob::Kind::skipped;
        job.skipped = {key.first, key.second, gap.first, gap.last, cause, host_.clocks().mono_ns};
        queue_.add(std::move(job));
        host_.say(strprintf("ring %u cpu %u: segments %" PRIu64 "..%" PRIu64
                            " were not written: %s",
                            key.first, key.second, gap.first, gap.last, formats::skip_text(cause)));
    }

    void take_aggregations(FollowedRing& ring) {
        uint32_t room = std::clamp<uint32_t>(aggbuf_bytes_[ring.file_id], DBK_SEGMENT_ALIGN_BYTES,
                                             formats::kAggregationBytesMax);
        if (queue_.room_bytes() < room)
            return; // the kernel goes on counting
        for (uint32_t cpu = 0; cpu < formats::kCpusMax; cpu++) {
            auto snapshot = device_->take_aggregations(ring.ring_id, cpu, room);
            if (!snapshot.ok()) { // another process's own: dtrace takes them itself
                ring.aggregates = false;
                return;
            }
            if (!snapshot.value())
                return;
            if (snapshot.value()->size() > DBK_SEGMENT_DATA_OFFSET)
                put_piece(ring, std::move(*snapshot.value()));
        }
    }

    /// Triggers from before this recorder began are not news, but their files are kept.
    void take_triggers(const std::vector<Bytes>& metadata) {
        for (const dbk_meta_trigger& trigger : triggers_after(metadata, trigger_sequence_)) {
            trigger_sequence_ = trigger.sequence;
            if (trigger.kind == DBK_TRIGGER_SLEEP || trigger.kind == DBK_TRIGGER_CLOCK)
                continue; // notes for who reads times
            formats::HostClocks when;
            when.mono_ns = trigger.mono_ns;
            when.wall_ns = trigger.wall_ns;
            pin(trigger.name, when, looked_before_);
        }
    }

    void pin(const std::string& name, const formats::HostClocks& when, bool news = true) {
        WriteJob job;
        job.kind = WriteJob::Kind::pin;
        job.trigger = name;
        job.from_mono_ns = when.mono_ns - std::min(when.mono_ns, options_.trigger_before_ns);
        job.to_mono_ns = when.mono_ns + options_.trigger_after_ns;
        queue_.add(std::move(job));
        if (!news)
            return;
        status_.last_trigger = {name, seconds(when.wall_ns)};
        status_.triggers++;
        host_.say("trigger " + name + ": the files around it are kept");
    }

    /// What a file lost that could not be synced is copied again while the ring has it.  Returns
    /// whether anything was lost.
    bool go_back() {
        std::vector<UnsyncedSegment> lost = queue_.take_lost();
        for (const UnsyncedSegment& segment : lost) {
            bool is_there = false;
            for (auto& [id, ring] : rings_.rings()) {
                auto tail = ring.cpus.find(segment.cpu);
                if (ring.file_id != segment.ring_id || tail == ring.cpus.end())
                    continue;
                tail->second.go_back(segment.sequence);
                is_there = true;
            }
            if (!is_there) // its ring has ended
                skip({segment.ring_id, segment.cpu},
                     {segment.sequence, segment.sequence, true, true});
        }
        return !lost.empty();
    }

    void end(FollowedRing& ring) {
        host_.say(strprintf("ring %u has ended", ring.ring_id));
        for (auto& [cpu, tail] : ring.cpus) {
            left_[{ring.file_id, cpu}] = tail.position();
            for (const auto& [sequence, looks] : tail.again())
                skip({ring.file_id, cpu}, {sequence, sequence, true, true});
        }
        WriteJob job;
        job.kind = WriteJob::Kind::forget;
        job.ring_id = ring.file_id;
        queue_.add(std::move(job));
    }

    // ---- telling

    static double seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

    void note_status(const FollowedRing& ring, const std::vector<Bytes>& metadata,
                     const std::map<uint16_t, dbk_meta_cpu>& counters) {
        std::optional<dbk_meta_ring> facts = ring_facts(metadata);
        if (ring.ring_id == 0 || !facts)
            return;
        formats::RecorderStatus::Ring one;
        one.id = ring.ring_id;
        one.name = std::string(facts->name, strnlen(facts->name, sizeof(facts->name)));
        one.policy = policy_word(facts->policy);
        one.activity = activity_word(facts->activity);
        for (const auto& [cpu, tail] : ring.cpus)
            one.cpus.push_back(
                cpu_status({ring.file_id, cpu}, tail, facts->segment_bytes, counters));
        status_.rings.push_back(std::move(one));
    }

    formats::RecorderStatus::Cpu cpu_status(CpuKey key, const CpuTail& tail, uint32_t segment_bytes,
                                            const std::map<uint16_t, dbk_meta_cpu>& counters) {
        formats::RecorderStatus::Cpu one;
        uint64_t now_ns = host_.clocks().mono_ns, next = tail.position().next;
        one.cpu = key.second;
        one.newest_segment = static_cast<double>(tail.newest());
        one.copied_segment = static_cast<double>(next == 0 ? 0 : next - 1);
        one.bytes = static_cast<double>(tail.slots() * segment_bytes);
        one.not_copied = static_cast<double>(skipped_[key]);
        if (tail.oldest_mono_ns() != 0 && now_ns > tail.oldest_mono_ns())
            one.kept_seconds = seconds(now_ns - tail.oldest_mono_ns());
        auto counted = counters.find(key.second);
        if (counted == counters.end())
            return one;
        one.records = static_cast<double>(counted->second.records);
        one.errors = static_cast<double>(counted->second.errors);
        for (const DropName& drop : kDropNames)
            if (counted->second.drops[drop.slot] != 0)
                one.drops.push_back(
                    {drop.name, static_cast<double>(counted->second.drops[drop.slot])});
        Counted& before = counted_[key];
        if (before.mono_ns != 0 && now_ns > before.mono_ns)
            one.records_per_second =
                (one.records - before.records) / seconds(now_ns - before.mono_ns);
        before = {now_ns, one.records};
        return one;
    }

    void end_sync() {
        add(WriteJob::Kind::sync);
        publish(queue_.state());
    }

    void publish(const WriteState& disk) {
        formats::HostClocks now = host_.clocks();
        status_.updated_at = seconds(now.wall_ns);
        status_.state = disk.failing && disk.cause == SkipCause::disk_full ? "disk full"
                        : disk.failing                                     ? "disk error"
                        : rings_.empty()                                   ? "waiting"
                        : hindered_.empty()                                ? "recording"
                                                                           : "disk slow";
        status_.last_error = disk.error;
        formats::RecorderStatus::Disk& reported = status_.disk;
        reported.used_bytes = static_cast<double>(disk.disk_bytes);
        reported.files = static_cast<double>(disk.files);
        reported.file = disk.current;
        reported.file_bytes = static_cast<double>(disk.file_bytes);
        reported.rotation_bytes = static_cast<double>(disk.rotation_bytes);
        reported.rotation_seconds = disk.rotation_boot_ns == 0 ? -1
                                : disk.rotation_boot_ns > now.boot_ns
                                    ? seconds(disk.rotation_boot_ns - now.boot_ns)
                                    : 0;
        reported.removed_files = static_cast<double>(disk.files_removed);
        reported.failures = static_cast<double>(disk.failures);
        reported.pinned_files = static_cast<double>(disk.pinned_files);
        size_t room = std::min(options_.queue_bytes, queue_.room_bytes());
        reported.queued_bytes = static_cast<double>(options_.queue_bytes - room);
        formats::RecorderStatus::Cost& cost = status_.cost;
        double passed = seconds(now.mono_ns - published_ns_);
        auto written = static_cast<double>(disk.bytes_written);
        auto copied = static_cast<double>(summary_.bytes);
        if (published_ns_ != 0 && passed > 0) {
            cost.written_per_second = (written - cost.written_bytes) / passed;
            cost.copied_per_second = (copied - cost.copied_bytes) / passed;
        }
        cost.written_bytes = written;
        cost.copied_bytes = copied;
        cost.not_copied = static_cast<double>(summary_.skipped);
        published_ns_ = now.mono_ns;
        host_.publish(status_);
    }

    uint64_t wait_ns(uint64_t began_ns) const {
        uint64_t wait = std::clamp(fastest_round_ns_ / kLooksPerRound, kWaitMinNs, kWaitMaxNs);
        if (!hindered_.empty())
            wait = kWaitMinNs;
        uint64_t sync = next_sync_ns_ > began_ns ? next_sync_ns_ - began_ns : 0;
        return std::min(wait, sync);
    }

    FollowHost& host_;
    FolderApi& folder_;
    SymbolSource& symbol_source_;
    const FollowOptions& options_;
    std::unique_ptr<DeviceApi> device_; // outlives what is mapped from it
    FollowedRings rings_;
    FileSeries series_; // the queue's once its thread runs
    WriteQueue queue_;
    MetadataTail metadata_;
    HeldSegments held_;
    RingIds ids_;
    FollowSummary summary_;
    formats::RecorderStatus status_;
    std::map<CpuKey, CpuPosition> left_;   // of rings that ended
    std::map<CpuKey, SkipCause> hindered_; // CPUs that could not be looked at
    std::map<CpuKey, uint64_t> skipped_;
    std::map<CpuKey, Counted> counted_;
    std::map<uint16_t, uint32_t> aggbuf_bytes_;
    dbk_ioc_status listed_ = {};
    std::string said_, boot_;
    uint64_t boot_id_ = 0, trigger_sequence_ = 0;
    uint64_t next_sync_ns_ = 0, next_list_ns_ = 0, restless_ns_ = 0, looked_ns_ = 0;
    uint64_t published_ns_ = 0, began_ns_ = 0;
    uint64_t fastest_round_ns_ = UINT64_MAX;
    bool restless_ = false, restarted_ = false, looked_before_ = false;
};

} // namespace

Result<FollowSummary> follow(FollowHost& host, FolderApi& folder, SymbolSource& symbols,
                             const FollowOptions& options) {
    return Follower(host, folder, symbols, options).run();
}

} // namespace daybreak::recorder
