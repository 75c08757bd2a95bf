// SPDX-License-Identifier: Apache-2.0
//
// Rings of several files that have one id and are not the same.
#include "formats/segment/builder_state.hpp"

#include <cstring>
#include <tuple>

namespace daybreak::formats {

namespace {

/// When a ring was made: with its id, and in one boot, what it is known by.
using Start = std::pair<uint64_t, uint64_t>;
using RingInFile = std::pair<uint32_t, uint16_t>;

std::optional<Start> start_of(const FoundPiece& found) {
    dbk_meta_ring facts = {};
    if (found.piece.meta.kind != DBK_META_RING ||
        found.bytes.size() < DBK_META_DATA_OFFSET + DBK_META_RING_BYTES_MIN)
        return std::nullopt;
    std::memcpy(&facts, found.bytes.view().data() + DBK_META_DATA_OFFSET, DBK_META_RING_BYTES_MIN);
    return Start(facts.start_ticks, facts.start_mono_ns);
}

/// Calls each(file, ring's id) for all pieces that have one.
template <typename Each>
void for_each_piece(BuilderState& state, Each each) {
    for (FoundPiece& found : state.metadata)
        if (found.piece.meta.ring_id != 0) // those of the host have none
            each(found.file_id, found.piece.meta.ring_id);
    for (auto& [key, pieces] : state.cpus)
        each(key.file_id, pieces.ring_id);
}

} // namespace

void tell_rings_apart(BuilderState& state) {
    std::map<RingInFile, Start> starts;
    for (const FoundPiece& found : state.metadata)
        if (std::optional<Start> start = start_of(found))
            starts.try_emplace({found.file_id, found.piece.meta.ring_id}, *start);
    std::set<uint16_t> taken;
    for_each_piece(state, [&](uint32_t, uint16_t id) { taken.insert(id); });

    std::map<uint16_t, std::map<Start, uint16_t>> known; // by the id that they were recorded with
    std::map<RingInFile, uint16_t> renamed;
    uint32_t next = 1;
    for (const auto& [ring, start] : starts) {
        auto& same_id = known[ring.second];
        auto [at, is_new] = same_id.try_emplace(start, ring.second);
        if (is_new && same_id.size() > 1) {
            while (taken.contains(static_cast<uint16_t>(next)) && next < UINT16_MAX)
                next++;
            taken.insert(at->second = static_cast<uint16_t>(next));
        }
        renamed[ring] = at->second;
    }
    for_each_piece(state, [&](uint32_t file_id, uint16_t& id) {
        if (auto at = renamed.find({file_id, id}); at != renamed.end())
            id = at->second;
    });
}

} // namespace daybreak::formats
