// SPDX-License-Identifier: Apache-2.0
//
// Finding pieces in untrusted bytes, keeping the best copy of each, and putting them in order.
#include "formats/segment/builder_state.hpp"

#include "base/crc32c.hpp"

#include <algorithm>
#include <cinttypes>
#include <tuple>

namespace daybreak::formats {

namespace {

using base::strprintf;

constexpr size_t kPageBytes = DBK_SEGMENT_ALIGN_BYTES;

uint32_t head_checksum(ByteView piece) {
    return base::crc32c(piece.first(std::min<size_t>(piece.size(), DBK_SEGMENT_DATA_OFFSET)));
}

/// Looks through one range.
class Finder {
public:
    /// A block of a store that the bytes are, unpacked; they go away after the search.
    struct Block {
        PieceStore& store;
        uint32_t number;
        PieceCounter& counter;
    };

    Finder(BuilderState& state, ByteView bytes, const AddOptions& options,
           std::vector<ByteView>* pieces, Block* block = nullptr)
        : state_(state), bytes_(bytes), options_(options), pieces_(pieces), block_(block),
          step_(options.packing == Packing::pages ? kPageBytes : DBK_RECORD_ALIGN_BYTES) {
        origin_ = static_cast<uint32_t>(state_.origins.size());
        state_.origins.push_back(options.origin);
    }

    size_t run() {
        size_t offset = 0;
        while (bytes_.size() >= sizeof(uint32_t) && offset <= bytes_.size() - sizeof(uint32_t)) {
            uint32_t magic;
            std::memcpy(&magic, bytes_.data() + offset, sizeof(magic));
            offset += piece_kind(magic) ? look_at(offset) : miss(offset);
        }
        return accepted_;
    }

private:
    /// Between packed pieces lies nothing: what is not a piece there is reported, once per range.
    size_t miss(size_t offset) {
        if (options_.packing == Packing::packed && !missed_)
            refuse(FindingKind::bad_header, offset,
                   "neither a segment nor a metadata block starts here");
        missed_ = true;
        return step_;
    }

    void refuse(FindingKind kind, size_t offset, std::string text) {
        state_.findings.add(kind, state_.where(origin_, offset), std::move(text));
    }

    /// Returns how far to move: over an accepted piece, else to the next possible start.
    size_t look_at(size_t offset) {
        ByteView rest = bytes_.subspan(offset);
        Result<Piece> parsed = parse_piece(rest);
        if (!parsed.ok()) {
            refuse_header(offset, parsed.error());
            return step_;
        }
        const Piece& piece = parsed.value();
        if (options_.phys_addr && piece.phys_addr != *options_.phys_addr + offset) {
            refuse(
                FindingKind::stale_copy, offset,
                strprintf("it says that it lies at physical address 0x%" PRIx64, piece.phys_addr));
            return step_;
        }
        size_t extent = extent_of(piece);
        bool cut = rest.size() < piece.committed_bytes;
        if (cut)
            refuse(FindingKind::truncated, offset,
                   strprintf("%u bytes are committed, %zu are there", piece.committed_bytes,
                             rest.size()));
        ByteView bytes = rest.first(cut ? rest.size() & ~size_t{7} : piece.committed_bytes);
        if (!checksum_holds(piece, bytes, cut)) {
            refuse(FindingKind::bad_checksum, offset,
                   piece.kind == PieceKind::metadata
                       ? block_name(piece.meta)
                       : segment_name(piece.segment.ring_id, piece.segment.cpu,
                                      piece.segment.sequence));
            return extent;
        }
        keep({piece, bytes, origin_, offset, options_.file_number, options_.window_id,
              options_.file_id, cut, std::nullopt},
             bytes);
        return extent;
    }

    void refuse_header(size_t offset, const Error& error) {
        FindingKind kind = FindingKind::bad_header;
        if (error.code() == ErrorCode::truncated)
            kind = FindingKind::truncated;
        else if (error.code() == ErrorCode::busy)
            return; // an empty slot, between its old segment and its new one
        refuse(kind, offset, error.message());
    }

    size_t extent_of(const Piece& piece) const {
        if (options_.packing == Packing::packed)
            return (size_t{piece.committed_bytes} + 7) & ~size_t{7};
        return (size_t{piece.room_bytes} + kPageBytes - 1) & ~(kPageBytes - 1);
    }

    static bool checksum_holds(const Piece& piece, ByteView bytes, bool cut) {
        if (piece.kind == PieceKind::metadata)
            return cut || metadata_checksum_holds(piece.meta, bytes);
        bool sealed =
            piece.kind == PieceKind::segment && (piece.segment.flags & DBK_SEGMENT_F_SEALED) != 0;
        return !sealed || (!cut && piece.segment.crc32c == segment_checksum(bytes));
    }

    void keep(FoundPiece found, ByteView bytes) {
        accepted_++;
        if (pieces_ && !found.cut)
            pieces_->push_back(bytes);
        if (block_)
            leave_in_block(found, bytes);
        switch (found.piece.kind) {
        case PieceKind::segment:
            state_.segments.push_back(std::move(found));
            break;
        case PieceKind::metadata:
            state_.metadata.push_back(std::move(found));
            break;
        case PieceKind::aggregation:
            state_.aggregations.push_back(std::move(found));
            break;
        }
    }

    /// Of a block that goes away: metadata is copied, the rest is found again.
    void leave_in_block(FoundPiece& found, ByteView bytes) {
        if (!found.cut)
            found.count = block_->counter.take(bytes);
        if (found.piece.kind == PieceKind::metadata) {
            auto copy = std::make_shared<const Bytes>(bytes.begin(), bytes.end());
            found.bytes = ByteView(*copy);
            state_.storage.push_back(std::move(copy));
            return;
        }
        found.bytes =
            PieceBytes(block_->store, block_->number, static_cast<uint32_t>(found.offset_bytes),
                       static_cast<uint32_t>(bytes.size()), head_checksum(bytes), false);
    }

    BuilderState& state_;
    ByteView bytes_;
    const AddOptions& options_;
    std::vector<ByteView>* pieces_;
    Block* block_;
    size_t step_;
    uint32_t origin_;
    size_t accepted_ = 0;
    bool missed_ = false;
};

/// Sorts what was found by identity, better copies first, and drops all but the first of each.
void keep_best(std::vector<FoundPiece>& pieces) {
    auto identity = [](const FoundPiece& p) {
        const dbk_segment_header& h = p.piece.segment;
        return std::make_tuple(h.ring_id, h.cpu, h.sequence);
    };
    std::stable_sort(pieces.begin(), pieces.end(), [&](const FoundPiece& a, const FoundPiece& b) {
        if (identity(a) != identity(b))
            return identity(a) < identity(b);
        if (a.bytes.size() != b.bytes.size())
            return a.bytes.size() > b.bytes.size();
        return (a.piece.segment.flags & DBK_SEGMENT_F_SEALED) >
               (b.piece.segment.flags & DBK_SEGMENT_F_SEALED);
    });
    auto last =
        std::unique(pieces.begin(), pieces.end(), [&](const FoundPiece& a, const FoundPiece& b) {
            return identity(a) == identity(b);
        });
    pieces.erase(last, pieces.end());
}

RingRecording& ring_of(Recording& recording, uint16_t ring_id) {
    auto at =
        std::lower_bound(recording.rings.begin(), recording.rings.end(), ring_id,
                         [](const RingRecording& ring, uint16_t id) { return ring.ring_id < id; });
    if (at == recording.rings.end() || at->ring_id != ring_id) {
        at = recording.rings.insert(at, RingRecording());
        at->ring_id = ring_id;
    }
    return *at;
}

CpuInfo& cpu_of(RingRecording& ring, uint16_t cpu) {
    auto at = std::lower_bound(ring.cpus.begin(), ring.cpus.end(), cpu,
                               [](const CpuInfo& info, uint16_t id) { return info.cpu < id; });
    if (at == ring.cpus.end() || at->cpu != cpu) {
        at = ring.cpus.insert(at, CpuInfo());
        at->cpu = cpu;
    }
    return *at;
}

SegmentInfo segment_info(const FoundPiece& found) {
    const dbk_segment_header& header = found.piece.segment;
    SegmentInfo info;
    info.sequence = header.sequence;
    info.base_ticks = header.base_ticks;
    info.base_mono_ns = header.base_mono_ns;
    info.records_before = found.piece.losses.records_before;
    info.sealed = (header.flags & DBK_SEGMENT_F_SEALED) != 0;
    info.damaged = found.cut;
    std::copy(std::begin(found.piece.losses.drops), std::end(found.piece.losses.drops),
              info.drops.begin());
    info.bytes = found.bytes;
    info.file_number = found.file_number;
    info.window_id = found.window_id;
    if (found.count) {
        info.counted = true;
        info.record_count = found.count->records;
        info.first_ticks = found.count->first_ticks;
        info.min_ticks = found.count->min_ticks;
        info.last_ticks = found.count->last_ticks;
    }
    return info;
}

AggregationSnapshot snapshot_of(const FoundPiece& found) {
    const dbk_segment_header& header = found.piece.segment;
    AggregationSnapshot snapshot;
    snapshot.cpu = header.cpu;
    snapshot.ring_id = header.ring_id;
    snapshot.sequence = header.sequence;
    snapshot.base_ticks = header.base_ticks;
    snapshot.base_mono_ns = header.base_mono_ns;
    std::copy(std::begin(found.piece.losses.drops), std::end(found.piece.losses.drops),
              snapshot.drops);
    snapshot.bytes = found.bytes;
    return snapshot;
}

void make_clock(RingRecording& ring, const MachineInfo& machine, bool segments_say_tsc) {
    const dbk_meta_ring& facts = ring.info.facts;
    ClockFacts clock;
    clock.ticks_are_tsc = ring.has_info ? facts.clock == DBK_CLOCK_TSC : segments_say_tsc;
    clock.ticks_per_second = facts.ticks_per_second;
    clock.start_ticks = facts.start_ticks;
    clock.start_mono_ns = facts.start_mono_ns;
    clock.start_boot_ns = facts.start_boot_ns;
    clock.start_wall_ns = facts.start_wall_ns;
    std::vector<ClockPair> pairs;
    auto add = [&pairs](uint64_t ticks, uint64_t mono_ns) {
        if (ticks != 0 || mono_ns != 0)
            pairs.push_back({ticks, mono_ns});
    };
    for (const CpuInfo& cpu : ring.cpus) {
        for (const SegmentInfo& segment : cpu.segments)
            add(segment.base_ticks, segment.base_mono_ns);
        for (const AggregationSnapshot& snapshot : cpu.aggregations)
            add(snapshot.base_ticks, snapshot.base_mono_ns);
    }
    for (const TriggerInfo& trigger : machine.triggers) // sleep and waking are among them
        add(trigger.ticks, trigger.mono_ns);
    ring.clock = ClockModel(clock, std::move(pairs));
}

/// Makes the ticks of a ring such that they run on where its clock jumped.
void shift_ticks(RingRecording& ring) {
    for (CpuInfo& cpu : ring.cpus) {
        for (AggregationSnapshot& snapshot : cpu.aggregations)
            snapshot.base_ticks =
                ring.clock.shifted_ticks({snapshot.base_ticks, snapshot.base_mono_ns});
        size_t last_epoch = std::max<size_t>(ring.clock.epochs().size(), 1) - 1;
        for (auto segment = cpu.segments.rbegin(); segment != cpu.segments.rend(); ++segment) {
            segment->recorded_ticks = segment->base_ticks;
            segment->base_ticks =
                ring.clock.shifted_ticks({segment->base_ticks, segment->base_mono_ns});
            segment->epoch = ring.clock.epoch_at(segment->base_mono_ns);
            segment->last_epoch = std::exchange(last_epoch, segment->epoch);
        }
    }
}

uint64_t choose_boot(const BuilderState& state, const std::map<uint64_t, uint64_t>& boots) {
    uint64_t best = 0, best_count = 0;
    for (const auto& [boot, count] : boots)
        if (count > best_count) {
            best = boot;
            best_count = count;
        }
    for (const FoundPiece& block : state.metadata)
        if (best_count == 0 && (best == 0 || block.piece.meta.kind == DBK_META_HOST))
            best = block.piece.boot_id;
    return best;
}

/// Leaves only the pieces of the chosen boot; says what was left out.
void filter_boot(std::vector<FoundPiece>& pieces, uint64_t boot_id, const char* what,
                 Findings& findings) {
    std::map<uint64_t, uint64_t> others;
    std::erase_if(pieces, [&](const FoundPiece& found) {
        bool other = found.piece.boot_id != boot_id;
        if (other)
            others[found.piece.boot_id]++;
        return other;
    });
    for (const auto& [boot, count] : others)
        findings.add(FindingKind::other_boot, "boot " + boot_name(boot),
                     strprintf("%" PRIu64 " %s, left out", count, what));
}

/// Returns the storage that the recording's pieces lie in: what only lesser copies or other boots
/// were in is not needed any more.
std::vector<std::shared_ptr<const Bytes>>
storage_in_use(const std::vector<std::shared_ptr<const Bytes>>& storage,
               const Recording& recording) {
    std::map<const std::byte*, std::shared_ptr<const Bytes>> unused;
    for (const std::shared_ptr<const Bytes>& bytes : storage)
        unused.emplace(bytes->data(), bytes);
    if (unused.empty())
        return {};
    std::vector<std::shared_ptr<const Bytes>> used;
    auto keep = [&](ByteView bytes) {
        auto above = unused.upper_bound(bytes.data());
        if (above == unused.begin())
            return;
        auto at = std::prev(above);
        if (bytes.data() >= at->first + at->second->size())
            return;
        used.push_back(std::move(at->second));
        unused.erase(at);
    };
    for (const RingRecording& ring : recording.rings)
        for (const CpuInfo& cpu : ring.cpus) {
            for (const SegmentInfo& segment : cpu.segments)
                keep(segment.bytes.view());
            for (const AggregationSnapshot& snapshot : cpu.aggregations)
                keep(snapshot.bytes.view());
        }
    for (ByteView block : recording.metadata)
        keep(block);
    return used;
}

} // namespace

std::string BuilderState::where(uint32_t origin, uint64_t offset_bytes) const {
    return strprintf("%s at 0x%" PRIx64, origins[origin].c_str(), offset_bytes);
}

void BuilderState::share(const std::shared_ptr<PieceStore>& store) {
    if (std::find(stores.begin(), stores.end(), store) == stores.end())
        stores.push_back(store);
}

std::string segment_name(uint16_t ring_id, uint16_t cpu, uint64_t sequence) {
    return strprintf("ring %u cpu %u segment %" PRIu64, ring_id, cpu, sequence);
}

RecordingBuilder::RecordingBuilder() : state_(std::make_unique<BuilderState>()) {}
RecordingBuilder::~RecordingBuilder() = default;
RecordingBuilder::RecordingBuilder(RecordingBuilder&&) noexcept = default;
RecordingBuilder& RecordingBuilder::operator=(RecordingBuilder&&) noexcept = default;

size_t RecordingBuilder::add_bytes(ByteView untrusted, const AddOptions& options,
                                   std::vector<ByteView>* pieces) {
    return Finder(*state_, untrusted, options, pieces).run();
}

size_t RecordingBuilder::add_owned(Bytes untrusted, const AddOptions& options) {
    auto owned = std::make_shared<const Bytes>(std::move(untrusted));
    size_t accepted = add_bytes(*owned, options);
    if (accepted > 0)
        state_->storage.push_back(std::move(owned));
    return accepted;
}

size_t RecordingBuilder::add_block(const std::shared_ptr<PieceStore>& store, uint32_t block,
                                   ByteView untrusted, const AddOptions& options,
                                   PieceCounter& counter) {
    state_->share(store);
    Finder::Block place{*store, block, counter};
    return Finder(*state_, untrusted, options, nullptr, &place).run();
}

Result<void> RecordingBuilder::add_heads(const std::shared_ptr<PieceStore>& store, uint32_t block,
                                         std::span<const PieceHead> heads,
                                         const AddOptions& options) {
    auto origin = static_cast<uint32_t>(state_->origins.size());
    std::vector<FoundPiece> found;
    for (const PieceHead& one : heads) {
        DBK_TRY(Piece piece, parse_piece(one.head));
        if (piece.kind == PieceKind::metadata)
            return base::errorf(ErrorCode::corrupt, "the head at %u is of metadata",
                                one.offset_bytes);
        PieceBytes bytes(*store, block, one.offset_bytes, piece.committed_bytes,
                         head_checksum(one.head), true);
        found.push_back({piece, bytes, origin, one.offset_bytes, options.file_number,
                         options.window_id, options.file_id, false, one.count});
    }
    state_->share(store);
    state_->origins.push_back(options.origin);
    for (FoundPiece& one : found)
        (one.piece.kind == PieceKind::segment ? state_->segments : state_->aggregations)
            .push_back(std::move(one));
    return {};
}

void RecordingBuilder::distrust_counts() {
    state_->counts_hold = false;
}

void RecordingBuilder::add_file(uint32_t file_number) {
    state_->file_numbers.insert(file_number);
}

uint32_t RecordingBuilder::begin_file() {
    return ++state_->files;
}

uint32_t RecordingBuilder::add_window() {
    return ++state_->windows;
}

void RecordingBuilder::add_finding(FindingKind kind, std::string where, std::string text) {
    state_->findings.add(kind, std::move(where), std::move(text));
}

std::vector<Unbroken> RecordingBuilder::unbroken(uint64_t boot_id) const {
    std::map<std::pair<uint16_t, uint16_t>, std::map<uint64_t, uint64_t>> cpus;
    for (const FoundPiece& found : state_->segments) {
        const dbk_segment_header& header = found.piece.segment;
        if (found.piece.boot_id == boot_id)
            cpus[{header.ring_id, header.cpu}].emplace(header.sequence, header.base_mono_ns);
    }
    std::vector<Unbroken> result;
    for (const auto& [id, segments] : cpus) {
        auto at = segments.rbegin();
        Unbroken one{id.first, id.second, at->first, at->second};
        for (++at; at != segments.rend() && at->first + 1 == one.first_sequence; ++at) {
            one.first_sequence = at->first;
            one.from_mono_ns = at->second;
        }
        result.push_back(one);
    }
    return result;
}

std::map<uint64_t, uint64_t> RecordingBuilder::boots() const {
    std::map<uint64_t, uint64_t> boots;
    for (const FoundPiece& block : state_->metadata)
        boots[block.piece.boot_id] += 0;
    for (const FoundPiece& segment : state_->segments)
        boots[segment.piece.boot_id]++;
    return boots;
}

Recording RecordingBuilder::build(const BuildOptions& options) {
    std::unique_ptr<BuilderState> state = std::exchange(state_, std::make_unique<BuilderState>());
    Recording recording;
    std::map<uint64_t, uint64_t> boots;
    for (const FoundPiece& segment : state->segments)
        boots[segment.piece.boot_id]++;
    recording.boot_id = options.boot_id ? *options.boot_id : choose_boot(*state, boots);
    recording.findings = std::move(state->findings);
    recording.file_numbers = std::move(state->file_numbers);
    filter_boot(state->segments, recording.boot_id, "segments", recording.findings);
    filter_boot(state->metadata, recording.boot_id, "metadata blocks", recording.findings);
    filter_boot(state->aggregations, recording.boot_id, "aggregation snapshots",
                recording.findings);
    tell_rings_apart(*state);
    keep_best(state->segments);
    keep_best(state->aggregations);

    std::map<uint16_t, bool> says_tsc;
    for (const FoundPiece& found : state->segments) {
        const dbk_segment_header& header = found.piece.segment;
        cpu_of(ring_of(recording, header.ring_id), header.cpu)
            .segments.push_back(segment_info(found));
        says_tsc[header.ring_id] |= (header.flags & DBK_SEGMENT_F_TSC) != 0;
    }
    for (const FoundPiece& found : state->aggregations)
        cpu_of(ring_of(recording, found.piece.segment.ring_id), found.piece.segment.cpu)
            .aggregations.push_back(snapshot_of(found));
    read_metadata(state->metadata, recording);
    state->counts_hold = state->counts_hold && recording.findings.count() == 0;
    for (RingRecording& ring : recording.rings) {
        make_clock(ring, recording.machine, says_tsc[ring.ring_id]);
        shift_ticks(ring);
        count_records(ring, state->counts_hold, recording.findings);
        account(ring, recording.file_numbers, recording.findings);
    }
    recording.storage = storage_in_use(state->storage, recording);
    recording.stores = std::move(state->stores);
    return recording;
}

} // namespace daybreak::formats
