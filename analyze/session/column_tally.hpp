// SPDX-License-Identifier: Apache-2.0
//
// ColumnTally: counts the records of a block by the columns of their keys, without making rows.
//
//     key columns:  execname  probefunc        groups            cells of each group
//                      3          0      -->   3 * 7 + 0   -->   count 41   --> the ring's table
//
// The records of a layout with equal values are a group; each group is looked up in the ring's
// table once a block.  The time column, and all that no key needs, is not decoded.
#pragma once

#include "analyze/session/consumer.hpp"
#include "formats/trace/column_block.hpp"

#include <vector>

namespace daybreak::analyze {

/// Buffers are kept from block to block.
class ColumnTally {
public:
    /// Counts all records of a block, which are of this ring.  Returns false when that needs more
    /// than columns, or they contradict what is known of the ring: nothing was counted then.
    bool count(const formats::ColumnBlock& block, const formats::RingRecording& ring,
               Consumer& consumer);

private:
    /// A column that is a member of the key, or a part of one.
    struct Part {
        uint8_t width = 0; ///< of the integer; kTailItem: a code is an entry of `tail`
        formats::ColumnCodes integers;
        formats::TailColumn tail;

        const formats::ColumnCodes& codes() const {
            return width == formats::kTailItem ? tail.indexes : integers;
        }
    };
    struct Group {
        base::Bytes key;
        std::vector<uint64_t> cells;
    };
    /// What a statement counted in the block.
    struct Result {
        Statement* statement;
        std::vector<Group> groups;
    };
    struct Slot {
        uint64_t key = 0;
        uint32_t number = 0; // from 1; 0: free
    };

    bool count_layout(const formats::LayoutColumns& layout, const formats::RingRecording& ring,
                      Consumer& consumer);
    bool count_statement(const formats::LayoutColumns& layout, Statement& statement);
    bool add_member(const formats::LayoutColumns& layout, const FieldPlan& field);
    bool add_part(const formats::LayoutColumns& layout, size_t item);
    static bool read_integers(const formats::LayoutColumns& layout,
                              const std::optional<FieldPlan>& field, std::vector<uint64_t>& values);
    void make_groups(size_t records, size_t cell_count);
    void add_to_groups(const formats::ColumnCodes& codes, size_t records);
    formats::ColumnCodes renumbered(const formats::ColumnCodes& codes, size_t records);
    void update(const AggregationFunction& function, size_t cell_count, size_t records);
    void find_examples();
    void put_key(const Statement& statement, size_t record, base::Bytes& key) const;

    std::vector<Result> results_;
    uint64_t cells_kept_ = 0; // of the results
    // Of the statement at hand:
    std::vector<Part> parts_;
    formats::ColumnCodes groups_; // of each record, the number of its group
    std::vector<uint64_t> values_, increments_;
    std::vector<uint64_t> cells_;    // of each group
    std::vector<uint32_t> examples_; // of each group a record, counted from 1; 0: it has none
    std::vector<Slot> slots_;
};

} // namespace daybreak::analyze
