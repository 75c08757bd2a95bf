// SPDX-License-Identifier: Apache-2.0
//
// Reading copies of metadata blocks.
#include "recorder/follow/ring_metadata.hpp"

#include "base/crc32c.hpp"
#include "formats/abi/segment.h"
#include "formats/segment/recording.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::recorder {

namespace {

dbk_meta_header header_of(const Bytes& block) {
    dbk_meta_header header = {};
    std::memcpy(&header, block.data(), std::min(sizeof(header), block.size()));
    return header;
}

ByteView content_of(const Bytes& block) {
    return block.size() > DBK_META_DATA_OFFSET ? ByteView(block).subspan(DBK_META_DATA_OFFSET)
                                               : ByteView();
}

/// Reads what is there of a structure; newer modules have longer ones.
template <typename T>
T read_prefix(ByteView bytes) {
    T value = {};
    std::memcpy(&value, bytes.data(), std::min(sizeof(T), bytes.size()));
    return value;
}

} // namespace

std::vector<Bytes> MetadataTail::changed(const std::vector<Bytes>& blocks, Restless taken) {
    std::vector<Bytes> changed;
    for (const Bytes& block : blocks) {
        dbk_meta_header header = header_of(block);
        bool restless = header.kind == DBK_META_CPUS || header.kind == DBK_META_LOG;
        if ((restless && taken != Restless::all) ||
            (header.kind == DBK_META_MAPS && taken == Restless::none))
            continue;
        BlockKey key{header.ring_id, header.kind, header.index, header.part};
        uint32_t checksum = base::crc32c(block);
        auto known = checksums_.find(key);
        if (known != checksums_.end() && known->second == checksum)
            continue;
        Result<Bytes> packed = formats::packed_piece(block);
        if (!packed.ok())
            continue; // it is being made: whole the next time
        checksums_[key] = checksum;
        changed.push_back(std::move(packed).value());
    }
    return changed;
}

std::map<uint16_t, dbk_meta_cpu> cpu_counters(const std::vector<Bytes>& blocks) {
    std::map<uint16_t, dbk_meta_cpu> counters;
    for (const Bytes& block : blocks) {
        dbk_meta_header header = header_of(block);
        if (header.kind != DBK_META_CPUS)
            continue;
        size_t room = (header.block_bytes - DBK_META_DATA_OFFSET) / sizeof(dbk_meta_cpu);
        size_t cpu = header.index * room;
        for (ByteView rest = content_of(block); rest.size() >= sizeof(dbk_meta_cpu);
             rest = rest.subspan(sizeof(dbk_meta_cpu)), cpu++)
            counters[static_cast<uint16_t>(cpu)] = read_prefix<dbk_meta_cpu>(rest);
    }
    return counters;
}

std::optional<dbk_meta_ring> ring_facts(const std::vector<Bytes>& blocks) {
    for (const Bytes& block : blocks)
        if (header_of(block).kind == DBK_META_RING)
            return read_prefix<dbk_meta_ring>(content_of(block));
    return std::nullopt;
}

std::vector<dbk_meta_trigger> triggers_after(const std::vector<Bytes>& blocks, uint64_t sequence) {
    std::vector<dbk_meta_trigger> found;
    for (const Bytes& block : blocks) {
        ByteView content = content_of(block);
        if (header_of(block).kind != DBK_META_TRIGGERS ||
            content.size() < sizeof(dbk_meta_triggers))
            continue;
        for (ByteView rest = content.subspan(sizeof(dbk_meta_triggers));
             rest.size() >= sizeof(dbk_meta_trigger);
             rest = rest.subspan(sizeof(dbk_meta_trigger))) {
            auto entry = read_prefix<dbk_meta_trigger>(rest);
            entry.name[sizeof(entry.name) - 1] = 0;
            if (entry.sequence > sequence)
                found.push_back(entry);
        }
    }
    std::sort(found.begin(), found.end(), [](const dbk_meta_trigger& a, const dbk_meta_trigger& b) {
        return a.sequence < b.sequence;
    });
    return found;
}

bool has_program(const std::vector<Bytes>& blocks, ByteView dof) {
    std::map<uint16_t, std::map<uint16_t, ByteView>> images;
    for (const Bytes& block : blocks) {
        dbk_meta_header header = header_of(block);
        if (header.kind == DBK_META_DOF)
            images[header.index][header.part] = content_of(block);
    }
    for (const auto& [index, parts] : images) {
        Bytes image;
        for (const auto& [part, bytes] : parts)
            image.insert(image.end(), bytes.begin(), bytes.end());
        if (image.size() >= dof.size() && std::equal(dof.begin(), dof.end(), image.begin()))
            return true;
    }
    return false;
}

void set_ring_id(Bytes& piece, uint16_t ring_id) {
    uint32_t magic = 0;
    std::memcpy(&magic, piece.data(), std::min(sizeof(magic), piece.size()));
    if (magic == DBK_META_MAGIC && piece.size() >= sizeof(dbk_meta_header)) {
        if (header_of(piece).ring_id != 0) // those of the host stay so
            std::memcpy(piece.data() + offsetof(dbk_meta_header, ring_id), &ring_id,
                        sizeof(ring_id));
        return;
    }
    if (piece.size() < sizeof(dbk_segment_header))
        return;
    dbk_segment_header header;
    std::memcpy(&header, piece.data(), sizeof(header));
    header.ring_id = ring_id;
    header.flags = static_cast<uint16_t>(header.flags & ~DBK_SEGMENT_F_SEALED); // sealed anew
    std::memcpy(piece.data(), &header, sizeof(header));
}

uint16_t RingIds::id_of(uint16_t ring_id, uint64_t start_mono_ns) {
    auto same = starts_.find(ring_id);
    if (same == starts_.end() || same->second == start_mono_ns) {
        starts_[ring_id] = start_mono_ns;
        return ring_id;
    }
    for (const auto& [id, start] : starts_)
        if (start == start_mono_ns)
            return id;
    uint16_t id = static_cast<uint16_t>(starts_.rbegin()->first + 1);
    while (id == 0 || starts_.contains(id))
        id++;
    starts_[id] = start_mono_ns;
    return id;
}

} // namespace daybreak::recorder
