// SPDX-License-Identifier: Apache-2.0
//
// Finding pieces in untrusted bytes, keeping the best copy of each, and putting them in order.
#include "formats/segment/builder_state.hpp"

#include "base/crc32c.hpp"
#include "base/padded.hpp"

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
        keep(piece, bytes, offset, cut);
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
            return base::padded_to_8(piece.committed_bytes);
        return (size_t{piece.room_bytes} + kPageBytes - 1) & ~(kPageBytes - 1);
    }

    static bool checksum_holds(const Piece& piece, ByteView bytes, bool cut) {
        if (piece.kind == PieceKind::metadata)
            return cut || metadata_checksum_holds(piece.meta, bytes);
        bool sealed =
            piece.kind == PieceKind::segment && (piece.segment.flags & DBK_SEGMENT_F_SEALED) != 0;
        return !sealed || (!cut && piece.segment.crc32c == segment_checksum(bytes));
    }

    void keep(const Piece& piece, ByteView bytes, size_t offset, bool cut) {
        accepted_++;
        if (pieces_ && !cut)
            pieces_->push_back(bytes);
        std::optional<SegmentCount> count;
        if (block_ && !cut)
            count = block_->counter.take(bytes);
        if (piece.kind == PieceKind::metadata)
            state_.metadata.push_back(
                {piece, lasting(bytes), origin_, offset, options_.file_id, cut});
        else if (block_)
            state_.add(piece,
                       PieceBytes(block_->store, block_->number, static_cast<uint32_t>(offset),
                                  static_cast<uint32_t>(bytes.size()), head_checksum(bytes), false),
                       options_, cut, count);
        else
            state_.add(piece, bytes, options_, cut, count);
    }

    /// Returns the bytes, copied when they lie in a block that goes away.
    ByteView lasting(ByteView bytes) {
        if (!block_)
            return bytes;
        state_.storage.push_back(std::make_shared<const Bytes>(bytes.begin(), bytes.end()));
        return *state_.storage.back();
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

bool segments_say_tsc(const RingRecording& ring) {
    return std::any_of(ring.cpus.begin(), ring.cpus.end(), [](const CpuInfo& cpu) {
        const auto& parts = cpu.segments.parts();
        return std::any_of(parts.begin(), parts.end(), [](const SegmentList::Part& part) {
            return part.run.says_tsc ||
                   std::any_of(part.segments.begin(), part.segments.end(),
                               [](const SegmentInfo& segment) { return segment.says_tsc != 0; });
        });
    });
}

/// Calls take(pair) for the ring's segments and snapshots; not for those of runs that say their
/// ticks are a TSC's, unless `of_all`.
template <typename Take>
void for_each_pair(const RingRecording& ring, bool of_all, Take take) {
    auto give = [&take](uint64_t ticks, uint64_t mono_ns) {
        if (ticks != 0 || mono_ns != 0)
            take(ClockPair{ticks, mono_ns});
    };
    for (const CpuInfo& cpu : ring.cpus) {
        for (const SegmentList::Part& part : cpu.segments.parts())
            for (size_t i = part.begin; i < part.end && (of_all || !part.run.says_tsc); i++) {
                SegmentInfo segment = cpu.segments[i];
                give(segment.recorded_ticks, segment.base_mono_ns);
            }
        for (const AggregationSnapshot& snapshot : cpu.aggregations)
            give(snapshot.base_ticks, snapshot.base_mono_ns);
        for (const LeftOut& stretch : cpu.left_out)
            for (const ClockPair& pair : stretch.pairs)
                give(pair.ticks, pair.mono_ns);
    }
}

/// `run_pairs` are those of the segments in runs, as far as they say that their ticks are a TSC's.
void make_clock(RingRecording& ring, const MachineInfo& machine, ClockPairs run_pairs) {
    const dbk_meta_ring& facts = ring.info.facts;
    ClockFacts clock;
    clock.ticks_are_tsc = ring.has_info ? facts.clock == DBK_CLOCK_TSC : segments_say_tsc(ring);
    clock.ticks_per_second = facts.ticks_per_second;
    clock.start_ticks = facts.start_ticks;
    clock.start_mono_ns = facts.start_mono_ns;
    clock.start_boot_ns = facts.start_boot_ns;
    clock.start_wall_ns = facts.start_wall_ns;
    if (!clock.ticks_are_tsc) { // they are the answer
        ring.clock = ClockModel(clock, {});
        return;
    }
    auto model = [&](std::vector<ClockPair> pairs) {
        for (const TriggerInfo& trigger : machine.triggers) // sleep and waking are among them
            if (trigger.ticks != 0 || trigger.mono_ns != 0)
                pairs.push_back({trigger.ticks, trigger.mono_ns});
        return ClockModel(clock, std::move(pairs));
    };
    for_each_pair(ring, false, [&](const ClockPair& pair) { run_pairs.add(pair); });
    run_pairs.settle();
    ring.clock = model(run_pairs.list());
    if (!ring.clock.has_jumps())
        return;
    // Which segment lies on which side of a jump is not known of a run, nor by some of the pairs.
    bool had_runs = false;
    for (CpuInfo& cpu : ring.cpus) {
        const auto& parts = cpu.segments.parts();
        had_runs |= std::any_of(parts.begin(), parts.end(),
                                [](const SegmentList::Part& part) { return part.is_run(); });
        cpu.segments.unfold_all();
    }
    if (!run_pairs.is_thinned() && !had_runs)
        return;
    std::vector<ClockPair> all;
    for_each_pair(ring, true, [&](const ClockPair& pair) { all.push_back(pair); });
    ring.clock = model(std::move(all));
}

/// Makes the ticks of a ring such that they run on where its clock jumped.
void shift_ticks(RingRecording& ring) {
    if (!ring.clock.has_jumps())
        return;
    for (CpuInfo& cpu : ring.cpus) {
        for (AggregationSnapshot& snapshot : cpu.aggregations)
            snapshot.base_ticks =
                ring.clock.shifted_ticks({snapshot.base_ticks, snapshot.base_mono_ns});
        auto last_epoch = static_cast<uint32_t>(ring.clock.epochs().size() - 1);
        size_t left = cpu.left_out.size();
        for (size_t i = cpu.segments.size(); i-- > 0;) {
            SegmentInfo& segment = cpu.segments.in_memory(i);
            for (; left > 0 && cpu.left_out[left - 1].first_sequence > segment.sequence; left--)
                if (const auto& pairs = cpu.left_out[left - 1].pairs; !pairs.empty())
                    last_epoch = static_cast<uint32_t>(ring.clock.epoch_at(pairs[0].mono_ns));
            segment.epoch = static_cast<uint32_t>(ring.clock.epoch_at(segment.base_mono_ns));
            segment.last_epoch = std::exchange(last_epoch, segment.epoch);
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

void note_others(const std::map<uint64_t, uint64_t>& others, const char* what, Findings& findings) {
    for (const auto& [boot, count] : others)
        findings.add(FindingKind::other_boot, "boot " + boot_name(boot),
                     strprintf("%" PRIu64 " %s, left out", count, what));
}

/// Leaves only the pieces of the chosen boot; says what was left out.
void filter_boot(BuilderState& state, uint64_t boot_id, Findings& findings) {
    std::map<uint64_t, uint64_t> segments, metadata, aggregations;
    std::erase_if(state.cpus, [&](const auto& cpu) {
        const auto& [key, pieces] = cpu;
        if (key.boot_id == boot_id)
            return false;
        if (!pieces.segments.empty())
            segments[key.boot_id] += pieces.segments.size();
        if (!pieces.aggregations.empty())
            aggregations[key.boot_id] += pieces.aggregations.size();
        return true;
    });
    std::erase_if(state.metadata, [&](const FoundPiece& found) {
        bool other = found.piece.boot_id != boot_id;
        if (other)
            metadata[found.piece.boot_id]++;
        return other;
    });
    note_others(segments, "segments", findings);
    note_others(metadata, "metadata blocks", findings);
    note_others(aggregations, "aggregation snapshots", findings);
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
            for (const SegmentList::Part& part : cpu.segments.parts())
                for (const SegmentInfo& segment : part.segments)
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

void BuilderState::share(const std::shared_ptr<SegmentSource>& source) {
    if (source && (sources.empty() || sources.back() != source))
        sources.push_back(source);
}

std::string segment_name(uint16_t ring_id, uint16_t cpu, uint64_t sequence) {
    return strprintf("ring %u cpu %u segment %" PRIu64, ring_id, cpu, sequence);
}

RecordingBuilder::RecordingBuilder(size_t segments_in_memory)
    : state_(std::make_unique<BuilderState>()) {
    state_->segments_in_memory_max = segments_in_memory;
}
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
    for (const PieceHead& one : heads) {
        DBK_TRY(Piece piece, parse_piece(one.head));
        if (piece.kind == PieceKind::metadata)
            return base::errorf(ErrorCode::corrupt, "the head at %u is of metadata",
                                one.offset_bytes);
    }
    state_->share(store);
    for (const PieceHead& one : heads) {
        DBK_TRY(Piece piece, parse_piece(one.head));
        state_->add(piece, indexed_bytes(one, piece.committed_bytes, *store, block), options, false, one.count,
                    one.place);
    }
    return {};
}

void RecordingBuilder::fold(const std::shared_ptr<SegmentSource>& source, uint32_t group,
                            const StreamOf& stream_of) {
    state_->share(source);
    fold_segments(*state_, source.get(), group, stream_of);
}

void RecordingBuilder::add_run(const std::shared_ptr<SegmentSource>& source,
                               const StreamKey& stream, SegmentRun run,
                               const AddOptions& options) {
    state_->share(source);
    run.source = source.get();
    run.file_number = options.file_number;
    run.window_id = options.window_id;
    CpuPieces& pieces =
        state_->cpus[{stream.boot_id, stream.ring_id, stream.cpu, options.file_id}];
    pieces.ring_id = stream.ring_id;
    pieces.segments.push_back(run);
}

void RecordingBuilder::add_pairs(uint64_t boot_id, uint16_t ring_id,
                                 std::span<const ClockPair> pairs, const AddOptions& options) {
    for (const ClockPair& pair : pairs)
        state_->run_pairs[{boot_id, ring_id, options.file_id}].add(pair);
    bound_pairs(*state_);
}

void RecordingBuilder::share(const std::shared_ptr<PieceStore>& store) {
    state_->share(store);
}

void RecordingBuilder::note_lost_blocks() {
    state_->counts_hold = false;
    state_->blocks_lost = true;
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
    for (const auto& [key, pieces] : state_->cpus)
        for (const SegmentInfo& segment : pieces.segments)
            if (key.boot_id == boot_id)
                cpus[{key.ring_id, key.cpu}].emplace(segment.sequence, segment.base_mono_ns);
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
    for (const auto& [key, pieces] : state_->cpus)
        if (uint64_t count = pieces.segment_count())
            boots[key.boot_id] += count;
    return boots;
}

Recording RecordingBuilder::build(const BuildOptions& options) {
    std::unique_ptr<BuilderState> state = std::exchange(state_, std::make_unique<BuilderState>());
    Recording recording;
    std::map<uint64_t, uint64_t> boots;
    for (const auto& [key, pieces] : state->cpus)
        if (uint64_t count = pieces.segment_count())
            boots[key.boot_id] += count;
    recording.boot_id = options.boot_id ? *options.boot_id : choose_boot(*state, boots);
    recording.findings = std::move(state->findings);
    recording.file_numbers = std::move(state->file_numbers);
    filter_boot(*state, recording.boot_id, recording.findings);
    tell_rings_apart(*state);
    gather_cpus(*state, recording);
    read_metadata(state->metadata, recording);
    state->counts_hold = state->counts_hold && recording.findings.count() == 0;
    for (RingRecording& ring : recording.rings) {
        make_clock(ring, recording.machine, std::move(state->ring_pairs[ring.ring_id]));
        shift_ticks(ring);
        count_records(ring, state->counts_hold, recording.findings);
        account(ring, recording.file_numbers, state->blocks_lost, recording.findings);
    }
    recording.storage = storage_in_use(state->storage, recording);
    recording.stores = std::move(state->stores);
    recording.sources = std::move(state->sources);
    return recording;
}

} // namespace daybreak::formats
