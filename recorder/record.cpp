// SPDX-License-Identifier: Apache-2.0
//
// The steps from a claimed ring to a trace file.
#include "recorder/record.hpp"

#include "base/file.hpp"
#include "formats/trace/writer.hpp"
#include "recorder/cpu_copy.hpp"
#include "recorder/live_copy.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>
#include <set>
#include <sys/stat.h>
#include <sys/statvfs.h>

namespace daybreak::recorder {

namespace {

using base::errorf;
using base::strprintf;
using formats::FindingKind;

constexpr size_t kPageBytes = DBK_SEGMENT_ALIGN_BYTES;
constexpr uint32_t kRegionsMax = 1u << 20;
constexpr int kListAttemptsMax = 5;
/// Records compress to a quarter or better; less free room than that is not worth trying.
constexpr uint64_t kLikelyCompression = 4;

/// A region and its memory.
struct MappedRegion {
    dbk_ioc_region facts;
    Mapping mapping;
};

class Recorder {
public:
    Recorder(DeviceApi& device, SymbolSource& symbols, const RecordOptions& options,
             const RecordProgress& progress, const StopRequested& stop_requested)
        : device_(device), symbol_source_(symbols), options_(options), progress_(progress),
          stop_requested_(stop_requested) {}

    Result<RecordSummary> run() {
        DBK_TRY_VOID(check_version());
        DBK_TRY(base::OutputFile file, base::OutputFile::create(options_.output_path));
        DBK_TRY_VOID(check_room(file));
        if (stop_now())
            return errorf(ErrorCode::interrupted, "interrupted; nothing was claimed");
        DBK_TRY_VOID(choose_rings());
        DBK_TRY_VOID(map_regions());

        formats::TraceHeader header = options_.header;
        header.origin =
            options_.keep ? formats::TraceOrigin::snapshot : formats::TraceOrigin::device;
        header.modules = read_modules();
        DBK_TRY(formats::TraceWriter writer,
                formats::TraceWriter::create([&](ByteView bytes) { return file.write(bytes); },
                                             header, {options_.zstd_level}));
        writer_ = &writer;
        DBK_TRY_VOID(copy_regions());
        DBK_TRY_VOID(take_aggregations());
        DBK_TRY_VOID(add_symbols());
        return finish(file);
    }

private:
    bool stop_now() const { return stop_requested_ && stop_requested_(); }
    void tell(RecordStep step, uint64_t done = 0, uint64_t total = 0) const {
        if (progress_)
            progress_(step, done, total);
    }

    Result<void> check_version() {
        DBK_TRY(status_, device_.status());
        if (status_.abi_version != DBK_IOC_ABI_VERSION)
            return errorf(ErrorCode::unsupported,
                          "the loaded daybreak module speaks version %u, this program %u; use the "
                          "daybreak that the module was installed with",
                          status_.abi_version, DBK_IOC_ABI_VERSION);
        return {};
    }

    Error no_state() const {
        size_t length = strnlen(status_.reason, sizeof(status_.reason));
        std::string reason(status_.reason, length);
        if (!reason.empty())
            return errorf(ErrorCode::not_found,
                          "no anonymous tracing state: the embedded enabling was refused: %s",
                          reason.c_str());
        return errorf(ErrorCode::not_found,
                      "no anonymous tracing state: nothing is embedded in the loaded module, or it "
                      "was claimed before; embed one and boot with rdinit=/daybreak/early-init");
    }

    /// Looks whether the output has room for what is likely to come.  Devices and pipes have none
    /// to look at.
    Result<void> check_room(const base::OutputFile& file) {
        struct stat status = {};
        struct statvfs disk = {};
        if (::fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode) ||
            ::fstatvfs(file.fd(), &disk) != 0 || disk.f_blocks == 0)
            return {};
        DBK_TRY(std::vector<dbk_ioc_region> regions, list_regions());
        std::map<uint32_t, uint64_t> ring_bytes;
        for (const dbk_ioc_region& region : regions)
            ring_bytes[region.ring_id] += region.bytes;
        uint64_t all = 0, largest = 0; // a claim takes one ring, which is not known before
        for (const auto& [ring, bytes] : ring_bytes) {
            all += bytes;
            largest = std::max(largest, bytes);
        }
        uint64_t want = (options_.keep ? all : largest) / kLikelyCompression;
        uint64_t have = uint64_t{disk.f_bavail} * disk.f_frsize;
        if (have < want)
            return errorf(ErrorCode::io,
                          "cannot write %s: %" PRIu64 " KiB are free on its disk, about %" PRIu64
                          " KiB are needed; nothing was claimed",
                          options_.output_path.c_str(), have >> 10, want >> 10);
        return {};
    }

    Result<std::vector<dbk_ioc_region>> list_regions() {
        // Indices move when rings come, go and grow: listed again until the counts stay.
        for (int attempt = 0; attempt < kListAttemptsMax; attempt++) {
            std::vector<dbk_ioc_region> regions;
            DBK_TRY(dbk_ioc_status before, device_.status());
            for (uint32_t index = 0; index < kRegionsMax; index++) {
                DBK_TRY(std::optional<dbk_ioc_region> region, device_.region(index));
                if (!region)
                    break;
                regions.push_back(*region);
            }
            DBK_TRY(dbk_ioc_status after, device_.status());
            if (before.ring_count == after.ring_count && before.region_count == after.region_count)
                return regions;
        }
        return errorf(ErrorCode::busy, "rings come and go too fast to be listed");
    }

    /// Claims and stops the oldest anonymous ring; with keep, chooses all rings as they are.
    Result<void> choose_rings() {
        tell(RecordStep::claiming);
        if (options_.keep) {
            DBK_TRY(std::vector<dbk_ioc_region> regions, list_regions());
            for (const dbk_ioc_region& region : regions)
                if (region.ring_id != 0)
                    rings_.insert(static_cast<uint16_t>(region.ring_id));
            if (rings_.empty())
                return no_state();
            return {};
        }
        DBK_TRY(std::optional<uint16_t> ring, device_.claim());
        if (!ring)
            return no_state();
        rings_.insert(*ring);
        tell(RecordStep::stopping);
        DBK_TRY_VOID(device_.stop(*ring));
        DBK_TRY(dbk_ioc_status left, device_.status());
        anonymous_left_ = left.anonymous;
        return {};
    }

    Result<void> map_regions() {
        DBK_TRY(std::vector<dbk_ioc_region> regions, list_regions());
        // Metadata first: a file that is cut still explains its segments.
        std::stable_sort(regions.begin(), regions.end(),
                         [](const dbk_ioc_region& a, const dbk_ioc_region& b) {
                             return (a.kind != DBK_REGION_META) < (b.kind != DBK_REGION_META);
                         });
        for (const dbk_ioc_region& region : regions) {
            if (region.ring_id != 0 && !rings_.contains(static_cast<uint16_t>(region.ring_id)))
                continue;
            DBK_TRY(Mapping mapping, device_.map(region));
            total_bytes_ += region.bytes;
            regions_.push_back({region, std::move(mapping)});
        }
        return {};
    }

    std::vector<formats::ModuleInfo> read_modules() {
        Result<std::string> text = symbol_source_.modules();
        if (text.ok())
            return parse_modules(text.value());
        builder_.add_finding(FindingKind::no_symbols, "/proc/modules", text.error().message());
        return {};
    }

    Result<void> copy_regions() {
        for (const MappedRegion& region : regions_)
            if (!options_.keep || region.facts.kind == DBK_REGION_META)
                DBK_TRY_VOID(copy_region(region));
        return options_.keep ? copy_running_rings() : Result<void>();
    }

    /// Copies the segments of all CPUs first, and writes them then: compressing takes longer than a
    /// CPU needs to go round its ring.
    Result<void> copy_running_rings() {
        std::map<std::pair<uint32_t, uint32_t>, std::vector<ByteView>> cpus;
        for (const MappedRegion& region : regions_)
            if (region.facts.kind == DBK_REGION_SEGMENTS)
                cpus[{region.facts.ring_id, region.facts.cpu}].push_back(region.mapping.live());
        std::vector<std::pair<std::string, CpuCopy>> copies;
        for (const auto& [id, views] : cpus) {
            interrupted_ = interrupted_ || stop_now();
            if (interrupted_)
                break;
            std::string name = strprintf("ring %u cpu %u", id.first, id.second);
            copies.emplace_back(name, copy_live_cpu(views));
            for (ByteView view : views)
                done_bytes_ = std::min(total_bytes_, done_bytes_ + view.size());
            tell(RecordStep::copying, done_bytes_, total_bytes_);
        }
        for (auto& [name, copy] : copies) {
            if (copy.slots_refused != 0)
                builder_.add_finding(FindingKind::bad_header, name,
                                     strprintf("the sizes of %zu segments contradict themselves",
                                               copy.slots_refused));
            for (auto& [sequence, segment] : copy.segments)
                DBK_TRY_VOID(keep_piece(name, segment, std::nullopt));
        }
        // What was written meanwhile may need ECBs that came since.
        for (const MappedRegion& region : regions_)
            if (region.facts.kind == DBK_REGION_META)
                DBK_TRY_VOID(copy_region(region));
        return {};
    }

    /// Copies every piece of one region; stops early on request, but never in metadata.
    Result<void> copy_region(const MappedRegion& region) {
        ByteView live = region.mapping.live();
        size_t step = kPageBytes, offset = 0;
        while (offset + kPageBytes <= live.size()) {
            bool metadata = region.facts.kind == DBK_REGION_META;
            interrupted_ = interrupted_ || stop_now();
            if (interrupted_ && !metadata)
                return {};
            LiveCopy copy = copy_live_piece(live.subspan(offset));
            size_t advance = step;
            if (copy.outcome == CopyOutcome::copied) {
                advance = std::max(copy.room_bytes, kPageBytes);
                // All segments of a region have one size: none starts inside another.
                step = metadata ? kPageBytes : advance;
                std::optional<ByteView> quiet;
                if (!metadata)
                    quiet = live.subspan(offset, copy.bytes.size());
                DBK_TRY_VOID(keep_piece(where(region, offset), copy.bytes, quiet));
            } else if (copy.outcome == CopyOutcome::refused) {
                builder_.add_finding(FindingKind::bad_header, where(region, offset),
                                     "its sizes contradict themselves");
            }
            offset += advance;
            done_bytes_ = std::min(total_bytes_, done_bytes_ + advance);
            tell(RecordStep::copying, done_bytes_, total_bytes_);
        }
        return {};
    }

    static std::string where(const MappedRegion& region, size_t offset) {
        return strprintf("ring %u cpu %u region at 0x%" PRIx64 "+0x%zx", region.facts.ring_id,
                         region.facts.cpu, uint64_t{region.facts.offset}, offset);
    }

    /// Writes a piece and remembers it for the summary: as it lies in the mapping when nobody
    /// writes there any more (`quiet`), else as it was copied.
    Result<void> keep_piece(const std::string& name, ByteView copy, std::optional<ByteView> quiet) {
        Result<Bytes> packed = formats::packed_piece(copy);
        if (!packed.ok()) {
            builder_.add_finding(FindingKind::bad_header, name, packed.error().message());
            return {};
        }
        DBK_TRY_VOID(writer_->add_piece(packed.value()));
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
                    {where(region, 0), formats::Packing::pages, std::nullopt});
        formats::Recording recording = metadata.build();
        for (const formats::RingRecording& ring : recording.rings) {
            const dbk_meta_ring& facts = ring.info.facts;
            if (!ring.has_info || facts.aggregate != DBK_AGGREGATE_ENGINE)
                continue;
            if (options_.keep) {
                builder_.add_finding(FindingKind::bad_aggregation,
                                     strprintf("ring %u", ring.ring_id),
                                     "what it aggregates is counted in the kernel and cannot be "
                                     "copied without claiming it");
                continue;
            }
            DBK_TRY_VOID(take_ring_aggregations(ring.ring_id, facts.aggbuf_bytes));
        }
        return {};
    }

    Result<void> take_ring_aggregations(uint16_t ring_id, uint32_t aggbuf_bytes) {
        uint32_t room =
            std::clamp<uint32_t>(aggbuf_bytes, kPageBytes, formats::kAggregationBytesMax);
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
            DBK_TRY_VOID(writer_->add_piece(packed.value()));
            builder_.add_owned(std::move(packed).value(),
                               {name, formats::Packing::packed, std::nullopt});
        }
        return {};
    }

    Result<void> add_symbols() {
        tell(RecordStep::symbols);
        Result<std::string> text = symbol_source_.kallsyms();
        if (!text.ok()) {
            builder_.add_finding(FindingKind::no_symbols, "/proc/kallsyms", text.error().message());
            return {};
        }
        formats::SymbolTable table;
        KallsymsFacts facts = parse_kallsyms(text.value(), table);
        if (facts.hidden)
            builder_.add_finding(FindingKind::no_symbols, "/proc/kallsyms",
                                 "the kernel hides all addresses (kernel.kptr_restrict): stacks "
                                 "will be numbers; record as root, or set it to 1");
        else if (facts.symbols == 0)
            builder_.add_finding(FindingKind::no_symbols, "/proc/kallsyms",
                                 "it lists no symbols: stacks will be numbers");
        return writer_->add_symbols(table);
    }

    Result<RecordSummary> finish(base::OutputFile& file) {
        tell(RecordStep::finishing);
        formats::Recording recording = builder_.build();
        formats::TraceSummary summary = formats::summary_of(recording);
        summary.interrupted = interrupted_;
        if (options_.clocks)
            summary.clocks = options_.clocks();
        DBK_TRY_VOID(writer_->finish(summary));
        DBK_TRY_VOID(file.commit());

        RecordSummary result;
        result.file_bytes = writer_->bytes_written();
        result.interrupted = interrupted_;
        result.anonymous_left = anonymous_left_;
        result.findings = summary.findings;
        result.has_losses = interrupted_ || recording.has_losses();
        for (const formats::RingRecording& ring : recording.rings) {
            RecordedRing one{ring.ring_id, ring.info.name, ring.completeness(), {}};
            for (const formats::CpuSummary& cpu : summary.cpus)
                if (cpu.ring_id == ring.ring_id)
                    one.cpus.push_back(cpu);
            result.rings.push_back(std::move(one));
        }
        return result;
    }

    DeviceApi& device_;
    SymbolSource& symbol_source_;
    const RecordOptions& options_;
    const RecordProgress& progress_;
    const StopRequested& stop_requested_;

    dbk_ioc_status status_ = {};
    std::set<uint16_t> rings_;
    std::vector<MappedRegion> regions_; // outlives builder_, which may look into it
    formats::RecordingBuilder builder_;
    formats::TraceWriter* writer_ = nullptr;
    uint32_t anonymous_left_ = 0;
    uint64_t done_bytes_ = 0, total_bytes_ = 0;
    bool interrupted_ = false;
};

} // namespace

Result<RecordSummary> claim_and_record(DeviceApi& device, SymbolSource& symbols,
                                       const RecordOptions& options, const RecordProgress& progress,
                                       const StopRequested& stop_requested) {
    return Recorder(device, symbols, options, progress, stop_requested).run();
}

} // namespace daybreak::recorder
