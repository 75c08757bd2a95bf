// SPDX-License-Identifier: Apache-2.0
//
// Columns out of divided segments: values gathered from the rows, tails by dictionary.
#include "formats/trace/column_pack.hpp"

#include <bit>
#include <cstring>

namespace daybreak::formats {

namespace {

using base::load;

/// A column of tails without enough repetition is stored plain for so many blocks.
constexpr uint8_t kPlainBlocks = 16;

template <typename T>
void gather_as(const std::byte* base, std::span<const uint32_t> positions, uint64_t* to) {
    for (uint32_t position : positions)
        *to++ = load<T>(base + position);
}

/// Over whole words: the padding after a tail is zeros.
uint64_t hash_of(const std::byte* at, size_t bytes) {
    uint64_t hash = bytes;
    for (size_t i = 0; i < bytes; i += 8)
        hash = (std::rotl(hash, 23) ^ load<uint64_t>(at + i)) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

} // namespace

void ColumnPacker::gather(ByteView rows, std::span<const uint32_t> positions, uint32_t offset,
                          uint8_t width) {
    values_.resize(positions.size());
    const std::byte* base = rows.data() + offset;
    switch (width) {
    case 1:
        return gather_as<uint8_t>(base, positions, values_.data());
    case 2:
        return gather_as<uint16_t>(base, positions, values_.data());
    case 4:
        return gather_as<uint32_t>(base, positions, values_.data());
    case 8:
        return gather_as<uint64_t>(base, positions, values_.data());
    default:
        for (size_t i = 0; i < positions.size(); i++) {
            values_[i] = 0;
            std::memcpy(&values_[i], base + positions[i], width);
        }
    }
}

void ColumnPacker::put_head(Bytes& payload) {
    put_varint(payload, kinds_.size());
    put_varint(payload, segments_.size());
    put_varint(payload, used_.size());
    for (const Layout* layout : used_)
        put_layout(layout->record, payload);
    put_varint(payload, runs_.size());
    for (const Run& run : runs_) {
        put_varint(payload, run.segments);
        put_varint(payload, run.literal_bytes);
    }
}

void ColumnPacker::put_headers(ByteView rows, Bytes& payload) {
    for (size_t i = 0; i < kHeaderItems.size(); i++) {
        gather(rows, segments_, kHeaderItems[i].offset, kHeaderItems[i].width);
        encoder_.put(values_, header_memory_[i], payload);
    }
}

void ColumnPacker::put_items(ByteView rows, Layout& layout, Bytes& payload) {
    if (layout.positions.empty()) // its only segment was not divided after all
        return;
    uint32_t at = layout.record.first_offset();
    for (size_t i = 0; i < layout.items.size(); i++) {
        uint8_t width = layout.record.widths[i];
        if (width == kTailItem) {
            put_tail(rows, layout, at, layout.items[i], payload);
        } else {
            gather(rows, layout.positions, at, width);
            encoder_.put(values_, layout.items[i].values, payload);
        }
        at += item_bytes(width);
    }
}

/// Fills tails_ with the different tails and indexes_; false when they hardly repeat.
bool ColumnPacker::index_tails(ByteView rows, const Layout& layout, uint32_t offset) {
    size_t count = layout.positions.size(), slot_count = std::bit_ceil(2 * count + 1);
    slots_.assign(slot_count, 0);
    indexes_.clear();
    for (size_t i = 0; i < count; i++) {
        const std::byte* record = rows.data() + layout.positions[i];
        auto ref = load<dbk_tail_ref>(record + offset);
        ByteView tail(record + ref.offset, ref.bytes);
        size_t slot = hash_of(tail.data(), tail.size()) & (slot_count - 1);
        while (slots_[slot] != 0) {
            ByteView known = tails_[slots_[slot] - 1];
            if (known.size() == tail.size() &&
                std::memcmp(known.data(), tail.data(), tail.size()) == 0)
                break;
            slot = (slot + 1) & (slot_count - 1);
        }
        if (slots_[slot] == 0) {
            if (tails_.size() > count / 2 + 16)
                return false;
            tails_.push_back(tail);
            slots_[slot] = static_cast<uint32_t>(tails_.size());
        }
        indexes_.push_back(slots_[slot] - 1);
    }
    return true;
}

void ColumnPacker::put_tail(ByteView rows, const Layout& layout, uint32_t offset,
                            ItemMemory& memory, Bytes& payload) {
    tails_.clear();
    bool dictionary = memory.plain_blocks_left == 0 && index_tails(rows, layout, offset);
    if (!dictionary) {
        memory.plain_blocks_left =
            memory.plain_blocks_left == 0 ? kPlainBlocks : memory.plain_blocks_left - 1;
        tails_.clear();
        for (uint32_t position : layout.positions) {
            const std::byte* record = rows.data() + position;
            auto ref = load<dbk_tail_ref>(record + offset);
            tails_.emplace_back(record + ref.offset, ref.bytes);
        }
    }
    lengths_.clear();
    for (ByteView tail : tails_)
        lengths_.push_back(tail.size());
    tail_content_.clear();
    put_varint(tail_content_, tails_.size());
    encoder_.put(lengths_, memory.lengths, tail_content_);
    if (dictionary)
        encoder_.put(indexes_, memory.values, tail_content_);
    for (ByteView tail : tails_)
        tail_content_.insert(tail_content_.end(), tail.begin(), tail.end());
    payload.push_back(static_cast<std::byte>(dictionary ? 1 : 0));
    put_varint(payload, tail_content_.size());
    payload.insert(payload.end(), tail_content_.begin(), tail_content_.end());
}

} // namespace daybreak::formats
