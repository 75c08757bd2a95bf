// SPDX-License-Identifier: Apache-2.0
//
// Pieces by columns: from the bytes of a DATA block to the payload of a COLUMNS block.
//
//     pieces --learn()--> layouts of each ring's EPIDs
//     rows   --walk-----> kinds, controls, positions of each layout's records
//            --gather---> one column per header field, per layout and item --> payload
//
// Only a segment whose checksum holds, whose EPIDs are known, and whose records fill it as the
// engine lays them out is divided; everything else goes as it is.  So unpacking gives the same
// bytes whatever the rows hold.
#pragma once

#include "formats/segment/epid_index.hpp"
#include "formats/trace/column_coding.hpp"
#include "formats/trace/column_layout.hpp"

#include <deque>
#include <map>

namespace daybreak::formats {

/// Buffers, layouts and choices are kept from block to block: one packer per file and thread.
class ColumnPacker {
public:
    /// Takes the layouts from a metadata block of ECBs; any other piece is let be.
    void learn(ByteView untrusted_piece);

    /// Puts the payload for `rows`, pieces back to back, into `payload`, and returns where its
    /// steps in time begin.  Returns nothing when no segment of the rows can be divided, or the
    /// payload would not be shorter than they are.
    std::optional<size_t> pack(ByteView rows, Bytes& payload);

private:
    /// Items that are references to a tail remember how its bytes went.
    struct ItemMemory {
        ColumnMemory values, lengths;
        uint8_t plain_blocks_left = 0; ///< till a dictionary of its strings is tried again
    };
    struct Layout {
        Layout() = default;
        Layout(const RecordLayout& of_epid, uint32_t firing);

        RecordLayout record;
        uint32_t fixed_bytes = 0;
        std::vector<uint32_t> tail_offsets; ///< of the references in the fixed part
        std::vector<ItemMemory> items;
        ColumnMemory steps;
        uint32_t kind = 0;               ///< in the block being packed, from 1; 0: not used yet
        std::vector<uint32_t> positions; ///< of its records in the rows of this block
        std::vector<uint64_t> time_steps;
    };
    struct Ring {
        EpidIndex index; ///< in layouts_, of the first of its four
    };
    /// So many segments, then so many bytes as they are.
    struct Run {
        uint64_t segments = 0, literal_bytes = 0;
    };

    void learn_ecb(uint16_t ring_id, const EcbInfo& ecb);
    Layout* find(const Ring& ring, uint32_t word);
    void begin();
    void take_literal(ByteView bytes);
    bool take_segment(ByteView rows, size_t at, size_t bytes);
    bool walk(ByteView rows, size_t from, size_t to, const Ring& ring);
    bool take_control(ByteView left);
    bool is_canonical(const Layout& layout, const std::byte* record, uint32_t length) const;
    void undo(size_t from, size_t kinds, size_t controls);

    void put_head(Bytes& payload);
    void put_headers(ByteView rows, Bytes& payload);
    void put_items(ByteView rows, Layout& layout, Bytes& payload);
    void put_tail(ByteView rows, const Layout& layout, uint32_t offset, ItemMemory& memory,
                  Bytes& payload);
    bool index_tails(ByteView rows, const Layout& layout, uint32_t offset);
    void gather(ByteView rows, std::span<const uint32_t> positions, uint32_t offset, uint8_t width);

    std::map<uint16_t, Ring> rings_;
    std::deque<Layout> layouts_; ///< of each EPID four, by the two bits that say its firing
    ColumnEncoder encoder_;
    std::array<ColumnMemory, kHeaderItems.size()> header_memory_{};
    ColumnMemory kinds_memory_;

    // Of the block being packed.
    std::vector<Layout*> used_;
    std::vector<Run> runs_;
    std::vector<uint64_t> kinds_;
    std::vector<uint32_t> segments_; ///< positions
    Bytes controls_, literals_;

    // Of one column.
    std::vector<uint64_t> values_, indexes_, lengths_;
    std::vector<uint32_t> slots_;
    std::vector<ByteView> tails_; ///< the different ones
    Bytes tail_content_;
};

} // namespace daybreak::formats
