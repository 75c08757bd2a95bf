// SPDX-License-Identifier: Apache-2.0
//
// The loop: look, copy, hand to the writer, wait (docs/design/0022-following.md).
//
//     DeviceWatch ──rings──► RingCopier ──jobs──► WriteQueue ──► FileSeries
//                                 │
//     TriggerKeeper: files that stay      StatusPublisher: how it stands
#include "recorder/follow/follower.hpp"

#include "recorder/follow/status_publisher.hpp"
#include "recorder/follow/trigger_keeper.hpp"

#include <algorithm>

namespace daybreak::recorder {

namespace {

constexpr uint64_t kWaitMinNs = 50'000'000, kWaitMaxNs = 2'000'000'000;
/// A CPU's ring is looked at this often in the time it needs to wrap.
constexpr uint64_t kLooksPerRound = 4;
/// Counters and the kernel's log are written this often.
constexpr uint64_t kRestlessNs = 10'000'000'000;
/// Maps of processes: so much of a machine that died has addresses without a name.
constexpr uint64_t kMapsNs = 1'000'000'000;

class Follower {
public:
    Follower(FollowHost& host, FolderApi& folder, SymbolSource& symbols,
             const FollowOptions& options)
        : host_(host), folder_(folder), symbol_source_(symbols), options_(options),
          watch_(host, options),
          series_(
              folder, options.series, make_header(), [this] { return host_.clocks(); }, say()),
          queue_(series_, say(), options.queue_bytes), copier_(host, options, watch_, queue_),
          status_(host, options, watch_, copier_, queue_),
          triggers_(host, options, queue_, status_.status()) {}

    Result<FollowSummary> run() {
        DBK_TRY_VOID(series_.scan());
        DBK_TRY_VOID(watch_.find([this] { status_.publish(); }));
        HeldSegments held;
        held.read_files(watch_.rings(), folder_, series_, options_.header, say());
        copier_.set_held(std::move(held));
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
                triggers_.pin("signal", host_.clocks());
            if (sync)
                end_sync();
            if (events.rotate)
                queue_.add({.kind = WriteJob::Kind::rotate});
            if (!options_.threaded)
                queue_.drain();
            events = host_.wait(wait_ns(now_ns));
        }
        return finish();
    }

private:
    FileSeries::Say say() {
        return [this](const std::string& line) { host_.say(line); };
    }

    formats::TraceHeader make_header() const {
        formats::TraceHeader header = options_.header;
        header.origin = formats::TraceOrigin::snapshot;
        (void)read_modules(symbol_source_, header.modules); // what cannot be read has no names
        return header;
    }

    void end_sync() {
        queue_.add({.kind = WriteJob::Kind::sync});
        status_.publish();
    }

    /// What a failing disk lost while the rest was written is copied again, too.
    Result<FollowSummary> finish() {
        uint64_t end_ns = host_.clocks().mono_ns + options_.finish_ns;
        auto left_ns = [&] { return end_ns - std::min(end_ns, host_.clocks().mono_ns); };
        bool done;
        do {
            restless_ns_ = maps_ns_ = 0;
            look(true);
            end_sync();
            done = queue_.wait_empty(left_ns());
        } while (done && copier_.go_back());
        queue_.add({.kind = WriteJob::Kind::rotate});
        done = queue_.finish(done ? left_ns() : 0) && done;
        status_.publish();
        WriteState disk = queue_.state();
        if (!done)
            return base::errorf(ErrorCode::io, "not all could be written: %s",
                                disk.error.empty() ? "the disk is too slow" : disk.error.c_str());
        return FollowSummary{copier_.bytes(), disk.bytes_written, copier_.skipped()};
    }

    void write_symbols() {
        Result<std::string> text = symbol_source_.kallsyms();
        auto table = std::make_shared<formats::SymbolTable>();
        if (text.ok())
            parse_kallsyms(text.value(), *table);
        if (table->empty()) {
            host_.say(
                "the kernel shows no symbols: stacks will be numbers (/proc/kallsyms is hidden by "
                "ProtectKernelTunables=, kernel.kptr_restrict, or for want of CAP_SYSLOG)");
            return;
        }
        queue_.add({.kind = WriteJob::Kind::symbols, .symbols = std::move(table)});
    }

    /// Copies what is new in all rings; what changes all the time too when `all`.
    void look(bool all) {
        Result<void> found = watch_.update();
        if (!watch_.is_open())
            triggers_.forget();
        if (!found.ok() && found.error().message() != said_)
            host_.say(found.error().message());
        said_ = found.ok() ? "" : found.error().message();
        copier_.begin_look();
        uint64_t now_ns = host_.clocks().mono_ns;
        restless_ = !all || now_ns < maps_ns_ ? Restless::none
                    : now_ns < restless_ns_   ? Restless::maps
                                              : Restless::all;
        if (restless_ != Restless::none)
            maps_ns_ = now_ns + kMapsNs;
        if (restless_ == Restless::all)
            restless_ns_ = now_ns + kRestlessNs;
        status_.begin_look();
        auto& rings = watch_.rings().rings();
        for (auto at = rings.begin(); at != rings.end();) {
            FollowedRing& ring = at->second;
            bool last = !ring.listed;
            look_at(ring, all || last, last);
            if (last && ring.ring_id != 0)
                copier_.end(ring);
            at = last ? rings.erase(at) : std::next(at);
        }
        copier_.end_look(now_ns);
        looked_before_ = true;
    }

    void look_at(FollowedRing& ring, bool all, bool last) {
        std::vector<Bytes> metadata;
        if (ring.is_new || all)
            metadata = ring.regions.metadata();
        if (ring.is_new) {
            copier_.begin(ring, metadata);
            // A file that is cut still explains its segments.
            copier_.put_metadata(ring, metadata, Restless::all);
        }
        if (ring.ring_id == 0)
            triggers_.take(metadata, looked_before_);
        std::map<uint16_t, dbk_meta_cpu> counters = cpu_counters(metadata);
        copier_.copy_segments(ring, counters, all);
        if (!all)
            return;
        if (ring.aggregates && !last)
            copier_.take_aggregations(ring);
        // After the segments: what a record refers to is in the metadata by then.
        copier_.put_metadata(ring, ring.regions.metadata(), last ? Restless::all : restless_);
        status_.note(ring, metadata, counters);
    }

    uint64_t wait_ns(uint64_t began_ns) const {
        uint64_t wait =
            std::clamp(copier_.fastest_round_ns() / kLooksPerRound, kWaitMinNs, kWaitMaxNs);
        if (copier_.is_hindered())
            wait = kWaitMinNs;
        uint64_t sync = next_sync_ns_ > began_ns ? next_sync_ns_ - began_ns : 0;
        return std::min(wait, sync);
    }

    FollowHost& host_;
    FolderApi& folder_;
    SymbolSource& symbol_source_;
    const FollowOptions& options_;
    DeviceWatch watch_;
    FileSeries series_; // the queue's once its thread runs
    WriteQueue queue_;
    RingCopier copier_;
    StatusPublisher status_;
    TriggerKeeper triggers_;
    std::string said_;
    uint64_t next_sync_ns_ = 0, restless_ns_ = 0, maps_ns_ = 0;
    Restless restless_ = Restless::none;
    bool looked_before_ = false;
};

} // namespace

Result<FollowSummary> follow(FollowHost& host, FolderApi& folder, SymbolSource& symbols,
                             const FollowOptions& options) {
    return Follower(host, folder, symbols, options).run();
}

} // namespace daybreak::recorder
