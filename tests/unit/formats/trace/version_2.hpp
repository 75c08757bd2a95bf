// SPDX-License-Identifier: Apache-2.0
//
// COLUMNS blocks of version 2 (columns.md), which are read and no longer written: out of newer
// ones.
#pragma once

#include "base/crc32c.hpp"
#include "formats/trace/block.hpp"
#include "formats/trace/column_block.hpp"

#include <cstddef>
#include <cstring>

namespace daybreak::test {

/// A payload with the steps of a layout before its items.
inline base::Bytes with_steps_before_items(base::ByteView payload, size_t rows_bytes) {
    using namespace formats;
    ColumnBlock block = ColumnBlock::read(payload, rows_bytes, StepsPlace::last).value();
    auto put = [](const ColumnView& column, base::Bytes& to) {
        to.push_back(static_cast<std::byte>(column.coding));
        put_varint(to, column.content.size());
        to.insert(to.end(), column.content.begin(), column.content.end());
    };
    base::Bytes columns;
    for (const LayoutColumns& layout : block.layouts()) {
        if (layout.time_steps)
            put(*layout.time_steps, columns);
        for (const ColumnView& item : layout.items)
            put(item, columns);
    }
    base::Bytes old(payload.begin(), payload.end() - static_cast<ptrdiff_t>(columns.size()));
    old.insert(old.end(), columns.begin(), columns.end());
    return old;
}

/// The block, header and padding with it, of a payload of today's form.
inline base::Bytes version_2_block(uint32_t number, base::ByteView payload, uint32_t rows_bytes) {
    base::Bytes block = formats::make_block(DBK_TRACE_DATA, number,
                                            with_steps_before_items(payload, rows_bytes), 3);
    auto header = base::load<dbk_trace_block>(block.data());
    header.type = DBK_TRACE_COLUMNS;
    header.version = DBK_TRACE_COLUMNS_VERSION_OLDEST;
    header.rows_bytes = rows_bytes;
    header.header_crc32c = base::crc32c(
        std::as_bytes(std::span(&header, 1)).first(offsetof(dbk_trace_block, header_crc32c)));
    std::memcpy(block.data(), &header, sizeof(header));
    return block;
}

} // namespace daybreak::test
