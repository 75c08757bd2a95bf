// SPDX-License-Identifier: Apache-2.0
//
// The seqlock reader.  Live memory is read by whole aligned words only, each once, so that nothing
// checked can change before it is used.
#include "live/live_copy.hpp"

#include <algorithm>

#include "base/padded.hpp"
#include "formats/abi/meta.h"
#include "formats/abi/segment.h"

#include <cstring>

namespace daybreak::live {

namespace {

/// Copies `bytes`, rounded up to whole words but cut to `bytes`.
Bytes copy_words(ByteView live, size_t bytes) {
    Bytes copy(base::padded_to_8(bytes));
    for (size_t at = 0; at < copy.size(); at += 8) {
        uint64_t word =
            __atomic_load_n(reinterpret_cast<const uint64_t*>(live.data() + at), __ATOMIC_RELAXED);
        std::memcpy(copy.data() + at, &word, sizeof(word));
    }
    copy.resize(bytes);
    return copy;
}

void set_committed(Bytes& copy, size_t offset, uint32_t committed_bytes) {
    std::memcpy(copy.data() + offset, &committed_bytes, sizeof(committed_bytes));
}

LiveCopy copy_segment(ByteView live) {
    for (int attempt = 0; attempt < kCopyAttemptsMax; attempt++) {
        auto sequence = live_word<uint64_t>(live, offsetof(dbk_segment_header, sequence));
        // Before committed_bytes: who sees SEALED sees all that the checksum is of.
        auto flags = live_word<uint16_t>(live, offsetof(dbk_segment_header, flags));
        auto committed = live_word<uint32_t>(live, offsetof(dbk_segment_header, committed_bytes));
        auto room = live_word<uint32_t>(live, offsetof(dbk_segment_header, segment_bytes));
        if (sequence == 0)
            continue;
        bool fits = room <= live.size() && committed >= DBK_SEGMENT_DATA_OFFSET &&
                    committed <= room && committed % 8 == 0;
        Bytes copy = fits ? copy_words(live, committed) : Bytes();
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (live_word<uint64_t>(live, offsetof(dbk_segment_header, sequence)) != sequence)
            continue;
        if (!fits)
            return {CopyOutcome::refused, {}, 0};
        // The header was copied later than committed_bytes was loaded: it may say more than was
        // copied.
        set_committed(copy, offsetof(dbk_segment_header, committed_bytes), committed);
        // Its magic may have been cleared and set again meanwhile, and it may have been sealed.
        uint32_t magic = DBK_SEGMENT_MAGIC;
        std::memcpy(copy.data(), &magic, sizeof(magic));
        std::memcpy(copy.data() + offsetof(dbk_segment_header, flags), &flags, sizeof(flags));
        return {CopyOutcome::copied, std::move(copy), room};
    }
    return {CopyOutcome::busy, {}, 0};
}

/// Which block it is: those of maps are filled anew under another index, without their magic
/// meanwhile.
std::pair<uint32_t, uint16_t> identity_of(ByteView live) {
    return {live_word<uint32_t>(live, offsetof(dbk_meta_header, magic)),
            live_word<uint16_t>(live, offsetof(dbk_meta_header, index))};
}

LiveCopy copy_metadata(ByteView live) {
    auto identity = identity_of(live);
    auto committed = live_word<uint32_t>(live, offsetof(dbk_meta_header, committed_bytes));
    auto room = live_word<uint32_t>(live, offsetof(dbk_meta_header, block_bytes));
    if (room > live.size() || committed < DBK_META_DATA_OFFSET || committed > room || room % 8 != 0)
        return {CopyOutcome::refused, {}, 0};
    Bytes copy = copy_words(live, committed);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (identity_of(live) != identity)
        return {CopyOutcome::busy, {}, 0};
    set_committed(copy, offsetof(dbk_meta_header, committed_bytes), committed);
    return {CopyOutcome::copied, std::move(copy), room};
}

} // namespace

LiveCopy copy_live_piece(ByteView live) {
    if (live.size() < DBK_SEGMENT_DATA_OFFSET)
        return {};
    switch (live_word<uint32_t>(live, 0)) {
    case DBK_SEGMENT_MAGIC:
        return copy_segment(live);
    case DBK_META_MAGIC:
        return copy_metadata(live);
    default:
        return {};
    }
}

std::vector<Bytes> copy_live_blocks(ByteView live) {
    std::vector<Bytes> blocks;
    for (size_t at = 0; at < live.size();) {
        LiveCopy piece = copy_live_piece(live.subspan(at));
        if (piece.outcome != CopyOutcome::copied)
            break;
        at += std::max<size_t>(piece.room_bytes, DBK_META_ALIGN_BYTES);
        blocks.push_back(std::move(piece.bytes));
    }
    return blocks;
}

} // namespace daybreak::live
