// SPDX-License-Identifier: Apache-2.0
//
// ColumnGroups: the records of a layout by what they have in some of its columns.
//
//     columns:  execname  probefunc        groups
//                  3          0      -->   3 * 7 + 0
//
// Records with equal values there are a group, and have its number; columns that were not asked for
// are not decoded.
#pragma once

#include "formats/trace/column_block.hpp"

#include <span>
#include <vector>

namespace daybreak::analyze {

/// Returns the item that begins at that offset of a record; widths.size() when none does.
size_t item_at(const formats::RecordLayout& layout, uint32_t offset);
/// Returns whether records of that layout are what the ECB says.
bool is_layout_of(const formats::RecordLayout& layout, const formats::EcbInfo& ecb);

/// Buffers are kept from layout to layout.
class ColumnGroups {
public:
    void clear();
    /// Adds a field; false when its column cannot be divided by, or contradicts the field.
    bool add(const formats::LayoutColumns& layout, const formats::FieldInfo& field);
    /// Gives every record of the layout the number of its group.  With `cells` words for each group
    /// there are not many times more of them than records.
    void divide(size_t records, size_t cells);
    /// Of each record the number of its group.
    const formats::ColumnCodes& numbers() const { return groups_; }
    /// Of each group the first record that is of it, counted from 1; 0: it has none.  `counts` are
    /// of all groups.
    void find_first(std::span<const uint64_t> counts, std::vector<uint32_t>& records) const;
    /// Appends the bytes that a field, by the order in which they were added, has in a record.
    void put(size_t field, size_t record, base::Bytes& data) const;

private:
    /// A column that is a field, or a part of one.
    struct Part {
        uint8_t width = 0; ///< of the integer; kTailItem: a code is an entry of `tail`
        formats::ColumnCodes integers;
        formats::TailColumn tail;

        const formats::ColumnCodes& codes() const {
            return width == formats::kTailItem ? tail.indexes : integers;
        }
    };
    struct Slot {
        uint64_t key = 0;
        uint32_t number = 0; // from 1; 0: free
    };

    bool add_part(const formats::LayoutColumns& layout, size_t item);
    void add_to_groups(const formats::ColumnCodes& codes, size_t records);
    formats::ColumnCodes renumbered(const formats::ColumnCodes& codes, size_t records);

    std::vector<Part> parts_;
    std::vector<size_t> ends_; // of each field's parts
    formats::ColumnCodes groups_;
    std::vector<Slot> slots_;
};

} // namespace daybreak::analyze
