// SPDX-License-Identifier: Apache-2.0
//
// ColumnBlock: the payload of a COLUMNS block taken apart; columns are decoded when asked for.
//
// Rows are made of all of its columns (column_unpack.hpp); what counts records by two of their fields
// decodes two and no others.  Every number of the payload is untrusted: what is returned here was
// checked against the sizes of the block, columns of records when they are decoded.
#pragma once

#include "formats/trace/block.hpp"
#include "formats/trace/column_coding.hpp"
#include "formats/trace/column_layout.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace daybreak::formats {

/// A column of strings or stacks: where each value lies.
struct TailColumn {
    ByteView bytes;
    std::vector<uint32_t> offsets; ///< of the entries in bytes, and the end
    bool is_dictionary = false;    ///< else value i is entry i
    ColumnCodes indexes;           ///< of the records' values among the entries of a dictionary

    size_t entries() const { return offsets.size() - 1; }
    ByteView entry(size_t i) const {
        return bytes.subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
    ByteView value(size_t i) const { return entry(is_dictionary ? indexes.value(i) : i); }
};

/// The records of one layout.
struct LayoutColumns {
    RecordLayout record;
    uint32_t fixed_bytes = 0;
    size_t count = 0; ///< of records
    std::optional<ColumnView> time_steps; ///< empty when count is 0, or they were left out
    std::vector<ColumnView> items; ///< as many as record.widths; empty when count is 0
};

/// So many segments, then so many bytes as they are.
struct ColumnRun {
    uint64_t segments = 0, literal_bytes = 0;
};

/// Where the columns of steps in time lie (docs/design/0072): with the items of their layouts (blocks of version 2),
/// after all items, or in the other frame, which was not unpacked.
enum class StepsPlace { with_items, last, left_out };

/// That of a part of a block's payload.
constexpr StepsPlace steps_place(const dbk_trace_block& header, PayloadPart part) {
    if (!has_two_frames(header))
        return StepsPlace::with_items;
    return part == PayloadPart::whole ? StepsPlace::last : StepsPlace::left_out;
}

/// Adds to each counts[c] how often c is among so many codes, which are below counts.size().
void count_codes(const ColumnCodes& codes, size_t count, std::span<uint64_t> counts);

class ColumnBlock {
public:
    /// Takes a payload apart, which must outlive it, for pieces of so many bytes.
    /// Errors: truncated, corrupt, limit, unsupported.
    static Result<ColumnBlock> read(ByteView untrusted_payload, size_t rows_bytes,
                                    StepsPlace steps);

    size_t rows_bytes() const { return rows_bytes_; }
    size_t record_count() const { return record_count_; }
    size_t segment_count() const { return segment_count_; }
    const std::vector<LayoutColumns>& layouts() const { return layouts_; }
    const std::vector<ColumnRun>& runs() const { return runs_; }
    /// One for each of record_count() in the order in which they lie: its layout, counted from 1; 0: a control
    /// record, which lies in controls().
    const ColumnCodes& kinds() const { return kinds_; }
    ByteView controls() const { return controls_; }
    ByteView literals() const { return literals_; }

    /// Decodes one of kHeaderItems of all segments.
    Result<void> header(size_t item, std::vector<uint64_t>& values) const;
    /// Decodes the steps in time of a layout's records, which must not have been left out.
    static Result<void> time_steps(const LayoutColumns& layout, std::vector<uint64_t>& values);
    /// Decodes an item of a layout's records that is an integer; values fit into its width.
    static Result<void> integers(const LayoutColumns& layout, size_t item,
                                 std::vector<uint64_t>& values);
    /// The same by codes, whose values fit.
    static Result<void> integer_codes(const LayoutColumns& layout, size_t item, ColumnCodes& codes);
    /// Decodes an item that refers to the tail.
    static Result<void> tails(const LayoutColumns& layout, size_t item, TailColumn& tail);

private:
    ColumnBlock(ByteView payload, size_t rows_bytes, StepsPlace steps)
        : reader_(payload, "columns"), rows_bytes_(rows_bytes), steps_(steps) {}

    Result<void> read_all();
    Result<void> read_head();
    Result<void> read_streams();
    Result<void> read_layout_columns();

    base::ByteReader reader_;
    size_t rows_bytes_;
    StepsPlace steps_;
    size_t record_count_ = 0, segment_count_ = 0;
    std::array<ColumnView, kHeaderItems.size()> headers_{};
    std::vector<LayoutColumns> layouts_;
    std::vector<ColumnRun> runs_;
    ColumnCodes kinds_;
    ByteView controls_, literals_;
};

} // namespace daybreak::formats
