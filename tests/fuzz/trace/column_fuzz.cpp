// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target: the payload of a block of columns from arbitrary bytes.  The first four are how many
// bytes of pieces it says to stand for; their highest two bits choose where its steps lie.  What
// unpacks is read as pieces, packed, and is the same again.
#include "formats/segment/piece.hpp"
#include "formats/trace/column_pack.hpp"
#include "formats/trace/column_unpack.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

using namespace daybreak;
using namespace daybreak::formats;

namespace {

void pack_again(ByteView rows) {
    ColumnPacker packer;
    for (ByteView rest = rows; !rest.empty();) {
        Result<Piece> piece = parse_piece(rest);
        if (!piece.ok())
            break;
        packer.learn(rest);
        rest = rest.subspan(std::min(padded_to_8(piece->committed_bytes), rest.size()));
    }
    Bytes payload;
    if (!packer.pack(rows, payload))
        return;
    Result<Bytes> back = unpack_columns(payload, rows.size(), StepsPlace::last);
    DBK_ASSERT(back.ok() && std::equal(rows.begin(), rows.end(), back->begin(), back->end()));
}

/// What counting by columns does with a payload without its steps.
void count_first_frame(ByteView payload, uint32_t rows_bytes) {
    Result<ColumnBlock> block = ColumnBlock::read(payload, rows_bytes, StepsPlace::left_out);
    if (!block.ok())
        return;
    ColumnCodes codes;
    TailColumn tail;
    for (const LayoutColumns& layout : block->layouts())
        for (size_t i = 0; i < layout.items.size(); i++)
            if (layout.record.widths[i] == kTailItem)
                (void)ColumnBlock::tails(layout, i, tail);
            else
                (void)ColumnBlock::integer_codes(layout, i, codes);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    uint32_t rows_bytes;
    if (size < sizeof(rows_bytes))
        return 0;
    std::memcpy(&rows_bytes, data, sizeof(rows_bytes));
    ByteView payload = std::as_bytes(std::span(data, size)).subspan(sizeof(rows_bytes));
    constexpr uint32_t kBytesMask = (1u << 30) - 1;
    uint32_t steps = std::min(rows_bytes >> 30, 2u);
    rows_bytes &= kBytesMask;
    if (steps == 2) {
        count_first_frame(payload, rows_bytes);
        return 0;
    }
    StepsPlace place = steps == 1 ? StepsPlace::with_items : StepsPlace::last;
    Result<Bytes> rows = unpack_columns(payload, rows_bytes, place);
    if (!rows.ok())
        return 0;
    RecordingBuilder builder;
    builder.add_bytes(*rows, {"columns", Packing::packed, std::nullopt});
    for (const RingRecording& ring : builder.build().rings)
        (void)ring.completeness();
    pack_again(*rows);
    return 0;
}
