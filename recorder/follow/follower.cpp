// SPDX-License-Identifier: Apache-2.0
//
// The loop: look, copy, write, sync, wait.
#include "recorder/follow/follower.hpp"

#include "formats/segment/recording.hpp"
#include "recorder/follow/held.hpp"
#include "recorder/follow/rings.hpp"

#include <algorithm>
#include <cinttypes>

namespace daybreak::recorder {

namespace {

using base::errorf;
using base::strprintf;

constexpr uint64_t kWaitMinNs = 50'000'000, kWaitMaxNs = 2'000'000'000;
/// A CPU's ring is looked at this often in the time it needs to go round.
constexpr uint64_t kLooksPerRound = 4;
/// Copied between two writes: bounds the memory.
constexpr size_t kCopyBytesMax = 8u << 20;
constexpr uint64_t kDeviceRetryNs = 2'000'000'000;

class Follower {
public:
    Follower(FollowHost& host, FolderApi& folder, SymbolSource& symbols,
             const FollowOptions& options)
        : host_(host), folder_(folder), symbol_source_(symbols), options_(options),
          rings_(options.rings),
          series_(
              folder, options.series, make_header(), [this] { return host_.clocks(); },
              [this](const std::string& line) { host_.say(line); }) {
        for (size_t i = 0; i < sizeof(boot_id_); i++)
            boot_id_ |= uint64_t{options.header.boot_uuid[i]} << (8 * i);
    }

    Result<FollowSummary> run() {
        DBK_TRY_VOID(series_.scan());
        DBK_TRY_VOID(find_rings());
        DBK_TRY_VOID(read_own_files());
        write_symbols();
        FollowEvents events;
        while (!events.stop) {
            uint64_t now_ns = host_.clocks().mono_ns;
            bool sync = now_ns >= next_sync_ns_;
            if (sync)
                next_sync_ns_ = now_ns + options_.sync_ns;
            look(sync);
            if (sync)
                try_disk(series_.sync());
            if (events.rotate)
                try_disk(series_.rotate());
            events = host_.wait(wait_ns(now_ns));
        }
        look(true);
        DBK_TRY_VOID(series_.sync());
        DBK_TRY_VOID(series_.rotate());
        summary_.file_bytes = series_.bytes_written();
        return summary_;
    }

private:
    formats::TraceHeader make_header() const {
        formats::TraceHeader header = options_.header;
        header.origin = formats::TraceOrigin::snapshot;
        Result<std::string> modules = symbol_source_.modules();
        if (modules.ok())
            header.modules = parse_modules(modules.value());
        return header;
    }

    Result<void> check_version() {
        DBK_TRY(dbk_ioc_status status, device_->status());
        if (status.abi_version == DBK_IOC_ABI_VERSION)
            return {};
        return errorf(ErrorCode::unsupported,
                      "the loaded daybreak module speaks version %u, this program %u; use the "
                      "daybreak that the module was installed with",
                      status.abi_version, DBK_IOC_ABI_VERSION);
    }

    Result<void> try_device() {
        if (!device_) {
            DBK_TRY(device_, host_.open_device());
            Result<void> version = check_version();
            if (!version.ok()) {
                device_.reset();
                return version;
            }
        }
        DBK_TRY_VOID(rings_.update(*device_));
        if (!rings_.empty())
            return {};
        device_.reset(); // a module that nothing records in can be unloaded
        return errorf(ErrorCode::not_found, "no ring: nothing is embedded in the loaded module, or "
                                            "it was claimed; enable a program with -s, or wait for "
                                            "one with --wait");
    }

    /// Waits for the device and a ring when that is wanted.
    Result<void> find_rings() {
        for (;;) {
            Result<void> found = try_device();
            if (found.ok() || found.error().code() != ErrorCode::not_found || !options_.wait)
                return found;
            if (host_.wait(kDeviceRetryNs).stop)
                return errorf(ErrorCode::interrupted, "interrupted; there was nothing to record");
        }
    }

    /// Finds out what of the rings' content is in the files already.
    Result<void> read_own_files() {
        HeldSegments held;
        for (auto& [id, ring] : rings_.rings())
            for (auto& [cpu, tail] : ring.cpus)
                tail.look();
        const std::vector<SeriesFile>& files = series_.files();
        for (size_t i = files.size(); i-- > 0 && !is_enough(held);) {
            if (files[i].parts.boot != boot_name(options_.header.boot_uuid))
                break;
            Result<Bytes> content = folder_.read(files[i].name);
            if (content.ok())
                held.add_file(content.value(), boot_id_);
            else
                host_.say(content.error().message());
        }
        for (auto& [id, ring] : rings_.rings())
            for (auto& [cpu, tail] : ring.cpus)
                tail.start_at(held.position(id, cpu, tail.oldest(), tail.newest()));
        return {};
    }

    bool is_enough(const HeldSegments& held) {
        for (auto& [id, ring] : rings_.rings())
            for (auto& [cpu, tail] : ring.cpus) {
                uint64_t lowest = held.lowest(id, cpu);
                if (tail.newest() != 0 && (lowest == 0 || lowest > tail.oldest()))
                    return false;
            }
        return true;
    }

    void write_symbols() {
        Result<std::string> text = symbol_source_.kallsyms();
        formats::SymbolTable table;
        if (text.ok())
            parse_kallsyms(text.value(), table);
        if (!table.empty())
            try_disk(series_.write_symbols(table));
    }

    /// Copies what is new in all rings; the open segments and the metadata too when `all`.
    void look(bool all) {
        Result<void> found = try_device();
        if (!found.ok() && found.error().code() != ErrorCode::not_found)
            host_.say(found.error().message());
        fastest_round_ns_ = UINT64_MAX;
        for (auto at = rings_.rings().begin(); at != rings_.rings().end();) {
            FollowedRing& ring = at->second;
            bool last = !ring.listed;
            if (all || last)
                copy_metadata(ring);
            for (auto& [cpu, tail] : ring.cpus)
                look_at(ring, cpu, tail, all || last);
            if (last) {
                host_.say(strprintf("ring %u has ended", ring.ring_id));
                try_disk(series_.flush());
                series_.forget_ring(ring.ring_id);
            }
            at = last ? rings_.rings().erase(at) : std::next(at);
        }
    }

    void copy_metadata(FollowedRing& ring) {
        for (const Bytes& block : ring.metadata()) {
            Result<Bytes> packed = formats::packed_piece(block);
            if (packed.ok())
                series_.put_metadata(std::move(packed).value());
        }
    }

    void look_at(FollowedRing& ring, uint16_t cpu, CpuTail& tail, bool open_too) {
        TailStep step = TailStep::full;
        uint64_t before = tail.position().next;
        for (int looks = 0; step != TailStep::done && looks < kLooksMax; looks++) {
            std::vector<TailSegment> segments;
            std::vector<TailGap> gaps;
            step = tail.take(open_too, kCopyBytesMax, segments, gaps);
            for (const TailGap& gap : gaps) {
                summary_.skipped += gap.last - gap.first + 1;
                host_.say(strprintf("ring %u cpu %u: segments %" PRIu64 "..%" PRIu64
                                    " were overwritten before they could be copied",
                                    ring.ring_id, cpu, gap.first, gap.last));
            }
            for (TailSegment& segment : segments) {
                summary_.segments += segment.closed;
                summary_.bytes += segment.bytes.size();
                try_disk(series_.put(segment.bytes));
            }
        }
        note_rate(tail, before);
    }

    void note_rate(const CpuTail& tail, uint64_t before) {
        uint64_t now_ns = host_.clocks().mono_ns;
        uint64_t opened = before == 0 ? 0 : tail.position().next - before;
        if (opened != 0 && now_ns > looked_ns_)
            fastest_round_ns_ =
                std::min(fastest_round_ns_, (now_ns - looked_ns_) * tail.slots() / opened);
    }

    uint64_t wait_ns(uint64_t now_ns) {
        looked_ns_ = now_ns;
        uint64_t wait = std::clamp(fastest_round_ns_ / kLooksPerRound, kWaitMinNs, kWaitMaxNs);
        uint64_t sync = next_sync_ns_ > now_ns ? next_sync_ns_ - now_ns : 0;
        return std::min(wait, sync);
    }

    void try_disk(const Result<void>& done) {
        if (!done.ok())
            host_.say(done.error().message());
    }

    static constexpr int kLooksMax = 1000;

    FollowHost& host_;
    FolderApi& folder_;
    SymbolSource& symbol_source_;
    const FollowOptions& options_;
    std::unique_ptr<DeviceApi> device_; // outlives what is mapped from it
    FollowedRings rings_;
    FileSeries series_;
    FollowSummary summary_;
    uint64_t boot_id_ = 0;
    uint64_t next_sync_ns_ = 0, looked_ns_ = 0, fastest_round_ns_ = UINT64_MAX;
};

} // namespace

Result<FollowSummary> follow(FollowHost& host, FolderApi& folder, SymbolSource& symbols,
                             const FollowOptions& options) {
    return Follower(host, folder, symbols, options).run();
}

} // namespace daybreak::recorder
