// SPDX-License-Identifier: Apache-2.0
//
// Copying rings at work, adding what a recorder has written, cutting to the window.
#include "recorder/snapshot.hpp"

#include "base/counted.hpp"
#include "formats/segment/piece.hpp"
#include "live/live_copy.hpp"
#include "recorder/cpu_copy.hpp"
#include "recorder/output.hpp"
#include "recorder/row.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <set>

namespace daybreak::recorder {

namespace {

using base::strprintf;
using formats::FindingKind;
using live::copy_live_piece;
using live::CopyOutcome;
using live::kPieceAlignBytes;
using live::LiveCopy;

/// A probe takes its time before it has written its record: records of the window's last moment are
/// given so long to arrive.
constexpr timespec kSettleTime = {0, 1'000'000};
/// A recorder writes what is new about once a second: how often that is waited for, and how long.
constexpr int kWaitsMax = 3;
constexpr timespec kWaitTime = {0, 700'000'000};

using Rings = std::set<uint32_t>;

/// Whether a metadata block is that of a ring whose program has ended.
bool has_ended(ByteView block) {
    Result<formats::Piece> piece = formats::parse_piece(block);
    dbk_meta_ring facts = {};
    if (!piece.ok() || piece->meta.kind != DBK_META_RING ||
        block.size() < DBK_META_DATA_OFFSET + DBK_META_RING_BYTES_MIN)
        return false;
    std::memcpy(&facts, block.data() + DBK_META_DATA_OFFSET, DBK_META_RING_BYTES_MIN);
    return facts.activity == DBK_ACTIVITY_STOPPED || facts.activity == DBK_ACTIVITY_KILLED;
}

class Snapshotter {
public:
    Snapshotter(DeviceApi& device, SymbolSource& symbols, const SnapshotOptions& options,
                const RecordProgress& progress, const StopRequested& stop_requested)
        : device_(device), options_(options), progress_(progress), stop_requested_(stop_requested),
          output_(options.record, symbols, progress) {}

    Result<RecordSummary> run() {
        DBK_TRY(dbk_ioc_status status, check_version(device_));
        DBK_TRY_VOID(output_.open(device_, true));
        if (stop_now())
            return base::errorf(ErrorCode::interrupted, "interrupted; nothing was copied");
        formats::TraceHeader header = options_.record.header;
        header.origin = formats::TraceOrigin::snapshot;
        header.trigger = options_.trigger;
        choose_window(header);
        DBK_TRY_VOID(map_regions(status));
        DBK_TRY_VOID(output_.begin(header));
        DBK_TRY_VOID(gather());
        return write(gathered_.back());
    }

private:
    bool stop_now() const { return stop_requested_ && stop_requested_(); }

    void choose_window(formats::TraceHeader& header) {
        if (options_.last_ns == 0)
            return;
        formats::HostClocks now = options_.record.clocks ? options_.record.clocks() : header.clocks;
        to_ns_ = std::max<uint64_t>(now.mono_ns, 1);
        from_ns_ = to_ns_ > options_.last_ns ? to_ns_ - options_.last_ns : 0;
        header.clocks = now;
        header.window_from_ns = from_ns_;
        header.window_to_ns = to_ns_;
        ::nanosleep(&kSettleTime, nullptr);
    }

    Result<void> map_regions(const dbk_ioc_status& status) {
        DBK_TRY(std::vector<dbk_ioc_region> regions, device_.regions());
        bool any_ring = false;
        for (const dbk_ioc_region& region : regions) {
            if (region.kind != DBK_REGION_META && region.kind != DBK_REGION_SEGMENTS)
                continue;
            Result<Mapping> mapping = device_.map(region);
            if (!mapping.ok()) // its ring went since it was listed
                continue;
            any_ring = any_ring || region.ring_id != 0;
            total_bytes_ += region.bytes;
            regions_.push_back({region, std::move(mapping).value()});
        }
        if (!any_ring)
            return no_state(status);
        return {};
    }

    /// Gathers everything there is: of the rings, and as far back as the window of the recorder's
    /// files.  What the recorder has not yet written of what the rings have overwritten since is
    /// waited for, a moment.
    Result<void> gather() {
        formats::RecordingBuilder live;
        Rings ended_before = copy_metadata(live);
        copy_segments(live, [](uint32_t) { return true; });
        // What was written meanwhile may need ECBs that came since.
        Rings ended = copy_metadata(live);
        // What END recorded came perhaps after its CPU was copied: nothing comes after it.
        copy_segments(live, [&](uint32_t ring) {
            return ended.contains(ring) && !ended_before.contains(ring);
        });
        uint64_t boot_id = boot_of(live);
        bool with_files = !options_.folder.empty() && to_ns_ != 0;
        if (with_files)
            DBK_TRY_VOID(add_recorder_files(options_.folder, boot_id, from_ns_, SIZE_MAX, live,
                                            output_.findings()));
        gathered_.push_back(live.build({boot_id}));
        for (int wait = 0; with_files && wait < kWaitsMax && is_lagging(); wait++) {
            ::nanosleep(&kWaitTime, nullptr);
            formats::RecordingBuilder again;
            add_pieces(gathered_.back(), again);
            // The newest may be another by now.
            DBK_TRY_VOID(
                add_recorder_files(options_.folder, boot_id, 0, 2, again, output_.findings()));
            gathered_.push_back(again.build({boot_id}));
        }
        return {};
    }

    static uint64_t boot_of(const formats::RecordingBuilder& builder) {
        uint64_t boot_id = 0, most = 0;
        for (const auto& [boot, segments] : builder.boots())
            if (boot_id == 0 || segments > most) {
                boot_id = boot;
                most = segments;
            }
        return boot_id;
    }

    /// Returns whether there is a hole between what files hold and what the rings held.
    bool is_lagging() const {
        std::vector<formats::CpuCoverage> uncovered =
            formats::not_covered_since(gathered_.back(), from_ns_);
        return std::any_of(uncovered.begin(), uncovered.end(),
                           [](const formats::CpuCoverage& cpu) { return cpu.has_older; });
    }

    /// Adds what is in memory there, and copies of what is in files.
    static void add_pieces(const formats::Recording& recording,
                           formats::RecordingBuilder& builder) {
        formats::AddOptions options{"gathered", formats::Packing::packed, std::nullopt};
        auto add = [&](const formats::PieceBytes& piece) {
            if (!piece.store()) {
                builder.add_bytes(piece.view(), options);
                return;
            }
            // What cannot be read any more is missed as what was rotated away is.
            if (Result<formats::PinnedBytes> loaded = piece.load(); loaded.ok())
                builder.add_owned(Bytes(loaded->bytes.begin(), loaded->bytes.end()), options);
        };
        for (ByteView block : recording.metadata)
            add(block);
        for (const formats::RingRecording& ring : recording.rings)
            for (const formats::CpuInfo& cpu : ring.cpus) {
                for (const formats::SegmentInfo& segment : cpu.segments)
                    add(segment.bytes);
                for (const formats::AggregationSnapshot& snapshot : cpu.aggregations)
                    add(snapshot.bytes);
            }
    }

    /// Returns the rings whose programs have ended.
    Rings copy_metadata(formats::RecordingBuilder& builder) {
        Rings ended;
        for (const MappedRegion& region : regions_) {
            if (region.facts.kind != DBK_REGION_META)
                continue;
            ByteView live = region.mapping.live();
            for (size_t at = 0; at + kPieceAlignBytes <= live.size();) {
                LiveCopy copy = copy_live_piece(live.subspan(at));
                if (copy.outcome == CopyOutcome::copied) {
                    add(builder, region.where(at), copy.bytes);
                    if (has_ended(copy.bytes))
                        ended.insert(region.facts.ring_id);
                } else if (copy.outcome == CopyOutcome::refused)
                    output_.findings().add(FindingKind::bad_header, region.where(at),
                                           "its sizes contradict themselves");
                at += copy.outcome == CopyOutcome::copied
                          ? std::max(copy.room_bytes, kPieceAlignBytes)
                          : kPieceAlignBytes;
            }
        }
        return ended;
    }

    /// Compressing takes longer than a CPU needs to fill its ring: nothing is written before
    /// everything is copied.
    void copy_segments(formats::RecordingBuilder& builder,
                       const std::function<bool(uint32_t ring)>& is_wanted) {
        std::map<std::pair<uint32_t, uint32_t>, std::vector<ByteView>> cpus;
        for (const MappedRegion& region : regions_)
            if (region.facts.kind == DBK_REGION_SEGMENTS && is_wanted(region.facts.ring_id))
                cpus[{region.facts.ring_id, region.facts.cpu}].push_back(region.mapping.live());
        std::vector<std::pair<std::string, CpuCopy>> copies;
        uint64_t done_bytes = 0;
        for (const auto& [id, views] : cpus) {
            interrupted_ = interrupted_ || stop_now();
            if (interrupted_)
                break;
            copies.emplace_back(strprintf("ring %u cpu %u", id.first, id.second),
                                copy_live_cpu(views));
            for (ByteView view : views)
                done_bytes = std::min(total_bytes_, done_bytes + view.size());
            if (progress_)
                progress_(RecordStep::copying, done_bytes, total_bytes_);
        }
        for (auto& [name, copy] : copies) {
            if (copy.slots_refused != 0)
                output_.findings().add(FindingKind::bad_header, name,
                                       base::counted(copy.slots_refused, "segment") +
                                           " whose sizes contradict themselves");
            for (auto& [sequence, segment] : copy.segments)
                add(builder, name, segment);
        }
    }

    void add(formats::RecordingBuilder& builder, const std::string& name, ByteView copy) {
        Result<Bytes> packed = formats::packed_piece(copy);
        if (packed.ok())
            builder.add_owned(std::move(packed).value(),
                              {name, formats::Packing::packed, std::nullopt});
        else
            output_.findings().add(FindingKind::bad_header, name, packed.error().message());
    }

    /// Writes the window's pieces of `all`, and accounts for what is in the file then.
    Result<RecordSummary> write(const formats::Recording& all) {
        formats::RecordingBuilder builder;
        formats::AddOptions add{"snapshot", formats::Packing::packed, std::nullopt};
        add.window_id = to_ns_ != 0 ? builder.add_window() : 0;
        auto put = [&](const formats::PieceBytes& piece) -> Result<void> {
            Result<formats::PinnedBytes> loaded = piece.load();
            if (!loaded.ok()) {
                output_.findings().add(FindingKind::unreadable, "a recorder's file",
                                       loaded.error().message());
                return {};
            }
            if (loaded->pin)
                builder.add_owned(Bytes(loaded->bytes.begin(), loaded->bytes.end()), add);
            else
                builder.add_bytes(loaded->bytes, add);
            return output_.writer().add_piece(loaded->bytes);
        };
        DBK_TRY_VOID(output_.add_symbols());
        for (ByteView block : all.metadata)
            DBK_TRY_VOID(put(block));
        for (const formats::RingRecording& ring : all.rings)
            for (const formats::CpuInfo& cpu : ring.cpus) {
                for (size_t i = first_in_window(cpu); i < cpu.segments.size(); i++)
                    DBK_TRY_VOID(put(cpu.segments[i].bytes));
                for (const formats::AggregationSnapshot& snapshot : cpu.aggregations)
                    DBK_TRY_VOID(put(snapshot.bytes));
            }
        tell_uncounted(all);
        formats::Recording cut = builder.build({all.boot_id});
        DBK_TRY(RecordSummary summary, output_.finish(cut, interrupted_));
        summary.window_from_ns = from_ns_;
        summary.window_to_ns = to_ns_;
        if (to_ns_ != 0)
            summary.uncovered = formats::not_covered_since(cut, from_ns_);
        summary.has_losses = summary.has_losses || !summary.uncovered.empty();
        return summary;
    }

    /// Returns the index of the segment that was open when the window began.
    size_t first_in_window(const formats::CpuInfo& cpu) const {
        size_t first = cpu.segments.size();
        while (first > 0 &&
               (first == cpu.segments.size() || cpu.segments[first].base_mono_ns > from_ns_))
            first--;
        return first;
    }

    /// Says what the kernel has counted and kept.
    void tell_uncounted(const formats::Recording& all) {
        for (const formats::RingRecording& ring : all.rings) {
            if (!ring.has_info || ring.info.facts.aggregate != DBK_AGGREGATE_ENGINE)
                continue;
            bool any =
                std::any_of(ring.cpus.begin(), ring.cpus.end(),
                            [](const formats::CpuInfo& cpu) { return !cpu.aggregations.empty(); });
            output_.findings().add(
                FindingKind::bad_aggregation, strprintf("ring %u", ring.ring_id),
                any ? "what it aggregated since its recorder last took it is counted in the kernel "
                      "and cannot be copied without taking it"
                    : "what it aggregates is counted in the kernel and cannot be copied without "
                      "claiming it");
        }
    }

    DeviceApi& device_;
    const SnapshotOptions& options_;
    const RecordProgress& progress_;
    const StopRequested& stop_requested_;
    RecordOutput output_;
    std::vector<MappedRegion> regions_;
    std::vector<formats::Recording> gathered_; ///< the last is it; the others own its memory
    uint64_t from_ns_ = 0, to_ns_ = 0;         ///< CLOCK_MONOTONIC; to_ns_ 0: everything
    uint64_t total_bytes_ = 0;
    bool interrupted_ = false;
};

} // namespace

Result<RecordSummary> take_snapshot(DeviceApi& device, SymbolSource& symbols,
                                    const SnapshotOptions& options, const RecordProgress& progress,
                                    const StopRequested& stop_requested) {
    return Snapshotter(device, symbols, options, progress, stop_requested).run();
}

} // namespace daybreak::recorder
