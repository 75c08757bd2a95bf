// SPDX-License-Identifier: Apache-2.0
//
// The steps from a claimed ring to a trace file.
#include "recorder/record.hpp"

#include "live/live_copy.hpp"
#include "recorder/output.hpp"
#include "recorder/snapshot.hpp"

#include <algorithm>

namespace daybreak::recorder {

namespace {

using base::errorf;
using base::strprintf;
using formats::FindingKind;
using live::copy_live_piece;
using live::CopyOutcome;
using live::kPieceAlignBytes;
using live::LiveCopy;

class Recorder {
public:
    Recorder(DeviceApi& device, SymbolSource& symbols, const RecordOptions& options,
             const RecordProgress& progress, const StopRequested& stop_requested)
        : device_(device), options_(options), progress_(progress), stop_requested_(stop_requested),
          output_(options, symbols, progress) {}

    Result<RecordSummary> run() {
        DBK_TRY(dbk_ioc_status status, check_version(device_));
        DBK_TRY_VOID(output_.open(device_, false));
        if (stop_now())
            return errorf(ErrorCode::interrupted, "interrupted; nothing was claimed");
        // The symbols come first: a file that is cut has them, and with no room for them nothing is
        // claimed.
        formats::TraceHeader header = options_.header;
        header.origin = formats::TraceOrigin::device;
        DBK_TRY_VOID(output_.begin(std::move(header)));
        DBK_TRY_VOID(output_.add_symbols());
        DBK_TRY_VOID(claim(status));
        Result<RecordSummary> written = write();
        if (!written.ok())
            return output_.keep_what_fitted(std::move(written).error());
        written->anonymous_left = anonymous_left_;
        return written;
    }

private:
    /// Makes the claimed ring the file.
    Result<RecordSummary> write() {
        DBK_TRY_VOID(map_regions());
        for (const MappedRegion& region : regions_)
            DBK_TRY_VOID(copy_region(region));
        DBK_TRY_VOID(take_aggregations());
        return output_.finish(builder_.build(), interrupted_);
    }

    bool stop_now() const { return stop_requested_ && stop_requested_(); }
    void tell(RecordStep step, uint64_t done = 0, uint64_t total = 0) const {
        if (progress_)
            progress_(step, done, total);
    }

    /// Claims and stops the oldest anonymous ring.
    Result<void> claim(const dbk_ioc_status& status) {
        tell(RecordStep::claiming);
        DBK_TRY(std::optional<uint16_t> ring, device_.claim(options_.ring_id));
        if (!ring)
            return no_state(status);
        ring_id_ = *ring;
        tell(RecordStep::stopping);
        DBK_TRY_VOID(device_.stop(*ring));
        DBK_TRY(dbk_ioc_status left, device_.status());
        anonymous_left_ = left.anonymous;
        return {};
    }

    Result<void> map_regions() {
        DBK_TRY(std::vector<dbk_ioc_region> regions, device_.regions());
        for (const dbk_ioc_region& region : regions) {
            if (region.ring_id != 0 && region.ring_id != ring_id_)
                continue;
            if (region.kind != DBK_REGION_META && region.kind != DBK_REGION_SEGMENTS)
                continue;
            DBK_TRY(Mapping mapping, device_.map(region));
            total_bytes_ += region.bytes;
            regions_.push_back({region, std::move(mapping)});
        }
        return {};
    }

    /// Copies every piece of one region; stops early on request, but never in metadata.
    Result<void> copy_region(const MappedRegion& region) {
        ByteView live = region.mapping.live();
        size_t step = kPieceAlignBytes, offset = 0;
        while (offset + kPieceAlignBytes <= live.size()) {
            bool metadata = region.facts.kind == DBK_REGION_META;
            interrupted_ = interrupted_ || stop_now();
            if (interrupted_ && !metadata)
                return {};
            LiveCopy copy = copy_live_piece(live.subspan(offset));
            size_t advance = step;
            if (copy.outcome == CopyOutcome::copied) {
                advance = std::max(copy.room_bytes, kPieceAlignBytes);
                // All segments of a region have one size: none starts inside another.
                step = metadata ? kPieceAlignBytes : advance;
                std::optional<ByteView> quiet;
                if (!metadata)
                    quiet = live.subspan(offset, copy.bytes.size());
                DBK_TRY_VOID(keep_piece(region.where(offset), copy.bytes, quiet));
            } else if (copy.outcome == CopyOutcome::refused) {
                builder_.add_finding(FindingKind::bad_header, region.where(offset),
                                     "its sizes contradict themselves");
            }
            offset += advance;
            done_bytes_ = std::min(total_bytes_, done_bytes_ + advance);
            tell(RecordStep::copying, done_bytes_, total_bytes_);
        }
        return {};
    }

    /// Writes a piece and remembers it for the summary: as it lies in the mapping when no CPU
    /// writes there any more (`quiet`), else as it was copied.
    Result<void> keep_piece(const std::string& name, ByteView copy, std::optional<ByteView> quiet) {
        Result<Bytes> packed = formats::packed_piece(copy);
        if (!packed.ok()) {
            builder_.add_finding(FindingKind::bad_header, name, packed.error().message());
            return {};
        }
        DBK_TRY_VOID(output_.writer().add_piece(packed.value()));
        formats::AddOptions add{name, formats::Packing::packed, std::nullopt};
        if (quiet)
            builder_.add_bytes(*quiet, add);
        else
            builder_.add_owned(std::move(packed).value(), add);
        return {};
    }

    /// With aggregate=engine the counts lie in buffers of their own, which only their owner takes.
    Result<void> take_aggregations() {
        formats::RecordingBuilder metadata;
        for (const MappedRegion& region : regions_)
            if (region.facts.kind == DBK_REGION_META)
                metadata.add_owned(
                    Bytes(region.mapping.live().begin(), region.mapping.live().end()),
                    {region.where(), formats::Packing::pages, std::nullopt});
        formats::Recording recording = metadata.build();
        for (const formats::RingRecording& ring : recording.rings) {
            const dbk_meta_ring& facts = ring.info.facts;
            if (!ring.has_info || facts.aggregate != DBK_AGGREGATE_ENGINE)
                continue;
            DBK_TRY_VOID(take_ring_aggregations(ring.ring_id, facts.aggbuf_bytes));
        }
        return {};
    }

    Result<void> take_ring_aggregations(uint16_t ring_id, uint32_t aggbuf_bytes) {
        uint32_t room =
            std::clamp<uint32_t>(aggbuf_bytes, kPieceAlignBytes, formats::kAggregationBytesMax);
        for (uint32_t cpu = 0; cpu < formats::kCpusMax; cpu++) {
            DBK_TRY(std::optional<Bytes> snapshot, device_.take_aggregations(ring_id, cpu, room));
            if (!snapshot)
                return {};
            if (snapshot->size() <= DBK_SEGMENT_DATA_OFFSET)
                continue; // nothing was counted
            std::string name = strprintf("ring %u cpu %u aggregations", ring_id, cpu);
            Result<Bytes> packed = formats::packed_piece(*snapshot);
            if (!packed.ok()) {
                builder_.add_finding(FindingKind::bad_aggregation, name, packed.error().message());
                continue;
            }
            DBK_TRY_VOID(output_.writer().add_piece(packed.value()));
            builder_.add_owned(std::move(packed).value(),
                               {name, formats::Packing::packed, std::nullopt});
        }
        return {};
    }

    DeviceApi& device_;
    const RecordOptions& options_;
    const RecordProgress& progress_;
    const StopRequested& stop_requested_;

    uint16_t ring_id_ = 0;
    std::vector<MappedRegion> regions_; // outlives builder_, which may look into it
    formats::RecordingBuilder builder_;
    RecordOutput output_;
    uint32_t anonymous_left_ = 0;
    uint64_t done_bytes_ = 0, total_bytes_ = 0;
    bool interrupted_ = false;
};

} // namespace

Result<RecordSummary> claim_and_record(DeviceApi& device, SymbolSource& symbols,
                                       const RecordOptions& options, const RecordProgress& progress,
                                       const StopRequested& stop_requested) {
    if (options.keep)
        return take_snapshot(device, symbols, {options}, progress, stop_requested);
    return Recorder(device, symbols, options, progress, stop_requested).run();
}

} // namespace daybreak::recorder
