// SPDX-License-Identifier: Apache-2.0
//
// How the records of an EPID are divided into columns.
//
// The fixed part of a record, after its header, is a row of items: integers of one to eight bytes,
// and references to strings and stacks in the tail.  Items cover the fixed part without gaps, so
// that a record made of them is the record as it was, whatever the fields mean.
#pragma once

#include "base/byte_reader.hpp"
#include "base/padded.hpp"
#include "formats/abi/meta.h"
#include "formats/abi/segment.h"
#include "formats/segment/record.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace daybreak::formats {

/// An item of this width is a reference to bytes of the tail; it takes kTailRefBytes.
constexpr uint8_t kTailItem = 0;
constexpr uint32_t kTailRefBytes = sizeof(dbk_tail_ref);
constexpr uint32_t kItemBytesMax = 8;

/// All items of the layouts that one block uses.
constexpr size_t kColumnItemsMax = 1u << 16;

constexpr uint32_t item_bytes(uint8_t width) {
    return width == kTailItem ? kTailRefBytes : width;
}

using base::padded_to_8;

struct RecordLayout {
    uint16_t ring_id = 0;
    uint32_t word = 0;     ///< that a record begins with: its EPID, and what it says of its firing
    bool variable = false; ///< the record's length, a u32, is after its header
    std::vector<uint8_t> widths; ///< of the items, in the order in which they lie

    /// Bytes before the first item: header, and the length when it varies.
    uint32_t first_offset() const { return variable ? 12 : sizeof(dbk_record_header); }
    uint32_t fixed_bytes() const;
    bool operator==(const RecordLayout&) const = default;
};

/// The items of a segment's header and losses, without the checksum, which is computed.
struct HeaderItem {
    uint8_t offset, width;
};
constexpr std::array<HeaderItem, 27> kHeaderItems = {{
    {0, 4},  {4, 2},  {6, 2},   {8, 4},   {12, 4},  {16, 8},  {24, 8},  {32, 8},  {40, 8},
    {48, 8}, {56, 2}, {58, 2},  {64, 8},  {72, 4},  {76, 4},  {80, 4},  {84, 4},  {88, 4},
    {92, 4}, {96, 4}, {100, 4}, {104, 4}, {108, 4}, {112, 4}, {116, 4}, {120, 4}, {124, 4},
}};
constexpr size_t kCommittedItem = 4; ///< in kHeaderItems

/// Returns the layout of an ECB's records; empty when it stores none or contradicts itself.
std::optional<RecordLayout> make_layout(uint16_t ring_id, const EcbInfo& ecb);

void put_layout(const RecordLayout& layout, base::Bytes& out);
/// Errors: truncated; corrupt, limit when its fixed part is not one that a record has.
base::Result<RecordLayout> read_layout(base::ByteReader& reader);

} // namespace daybreak::formats
