// SPDX-License-Identifier: Apache-2.0
//
// Reading back which segments are in the files.
#include "recorder/follow/held.hpp"

#include "base/padded.hpp"
#include "formats/segment/piece.hpp"
#include "formats/trace/block.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::recorder {

std::pair<uint64_t, uint64_t> HeldSegments::add_file(ByteView untrusted_file, uint64_t boot_id) {
    formats::Findings findings; // damage: what is not whole is not held
    formats::BlockScanner scanner(untrusted_file, findings);
    formats::BlockView block;
    std::pair<uint64_t, uint64_t> times{0, 0};
    while (scanner.next(block)) {
        if (!formats::has_pieces(block.header))
            continue;
        Result<Bytes> raw = formats::unpack_block(block);
        if (!raw.ok())
            continue;
        for (ByteView rest(raw.value()); !rest.empty();) {
            Result<formats::Piece> parsed = formats::parse_piece(rest);
            if (!parsed.ok())
                break;
            const formats::Piece& piece = parsed.value();
            size_t bytes = base::padded_to_8(piece.committed_bytes);
            if (bytes > rest.size())
                break;
            if (piece.kind == formats::PieceKind::segment && piece.boot_id == boot_id) {
                uint32_t& held =
                    cpus_[{piece.segment.ring_id, piece.segment.cpu}][piece.segment.sequence];
                held = std::max(held, piece.committed_bytes);
                uint64_t mono_ns = piece.segment.base_mono_ns;
                times.first = times.first == 0 ? mono_ns : std::min(times.first, mono_ns);
                times.second = std::max(times.second, mono_ns);
            }
            if (piece.kind == formats::PieceKind::metadata && piece.boot_id == boot_id &&
                piece.meta.kind == DBK_META_RING) {
                std::vector<Bytes> one{Bytes(rest.begin(), rest.begin() + piece.committed_bytes)};
                ids_.add(piece.meta.ring_id, ring_facts(one)->start_mono_ns);
            }
            rest = rest.subspan(bytes);
        }
    }
    return times;
}

uint64_t HeldSegments::lowest(uint16_t ring_id, uint16_t cpu) const {
    auto found = cpus_.find({ring_id, cpu});
    return found == cpus_.end() ? 0 : found->second.begin()->first;
}

CpuPosition HeldSegments::position(uint16_t ring_id, uint16_t cpu) const {
    auto found = cpus_.find({ring_id, cpu});
    return found == cpus_.end()
               ? CpuPosition()
               : CpuPosition{found->second.rbegin()->first, found->second.rbegin()->second};
}

std::vector<uint64_t> HeldSegments::holes(uint16_t ring_id, uint16_t cpu, uint64_t oldest,
                                          uint64_t newest) const {
    std::vector<uint64_t> holes;
    auto found = cpus_.find({ring_id, cpu});
    if (found == cpus_.end())
        return holes;
    uint64_t expected = std::max<uint64_t>(oldest, 1);
    for (auto at = found->second.lower_bound(expected); at != found->second.end(); ++at) {
        for (; expected < at->first && expected <= newest; expected++)
            holes.push_back(expected);
        expected = at->first + 1;
    }
    return holes;
}

std::vector<uint64_t> HeldSegments::cut(uint16_t ring_id, uint16_t cpu, const CpuTail& tail) const {
    std::vector<uint64_t> cut;
    auto found = cpus_.find({ring_id, cpu});
    if (found == cpus_.end())
        return cut;
    auto last = std::prev(found->second.end()); // position() begins with it
    for (auto at = found->second.lower_bound(tail.oldest());
         at != last && at != found->second.end(); ++at)
        if (at->second < tail.committed_bytes(at->first))
            cut.push_back(at->first);
    return cut;
}

/// Returns whether the files read so far go back as far as the rings, without a hole.
bool HeldSegments::is_enough(FollowedRings& rings) const {
    for (auto& [id, ring] : rings.rings())
        for (auto& [cpu, tail] : ring.cpus) {
            uint64_t from = lowest(id, cpu);
            if (tail.newest() != 0 && (from == 0 || from > tail.oldest() ||
                                       !holes(id, cpu, tail.oldest(), tail.newest()).empty()))
                return false;
        }
    return true;
}

void HeldSegments::read_files(FollowedRings& rings, FolderApi& folder, FileSeries& series,
                              const formats::TraceHeader& header, const FileSeries::Say& say) {
    uint64_t boot_id;
    std::memcpy(&boot_id, header.boot_uuid.data(), sizeof(boot_id));
    std::string boot = boot_name(header.boot_uuid);
    for (auto& [id, ring] : rings.rings())
        for (auto& [cpu, tail] : ring.cpus)
            tail.look();
    std::vector<SeriesFile> files = series.files();
    for (size_t i = files.size(); i-- > 0 && !is_enough(rings);) {
        if (files[i].parts.boot != boot)
            break;
        // What a killed recorder left unsynced counts once it is on the disk.
        Result<void> synced = folder.sync_file(files[i].name);
        Result<Bytes> content = folder.read(files[i].name);
        if (!synced.ok() || !content.ok()) {
            say((synced.ok() ? content.error() : synced.error()).message());
            continue;
        }
        auto [first_ns, last_ns] = add_file(content.value(), boot_id);
        series.set_times(files[i].name, first_ns, last_ns);
    }
}

} // namespace daybreak::recorder
