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

#include "analyze/session/column_groups.hpp"
#include "analyze/session/consumer.hpp"

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
    struct Group {
        base::Bytes key;
        std::vector<uint64_t> cells;
    };
    /// What a statement counted in the block.
    struct Result {
        Statement* statement;
        std::vector<Group> groups;
    };
    bool count_layout(const formats::LayoutColumns& layout, const formats::RingRecording& ring,
                      Consumer& consumer);
    bool count_statement(const formats::LayoutColumns& layout, Statement& statement);
    static bool read_integers(const formats::LayoutColumns& layout,
                              const std::optional<FieldPlan>& field, std::vector<uint64_t>& values);
    void update(const AggregationFunction& function, size_t cell_count, size_t records);
    void put_key(const Statement& statement, size_t record, base::Bytes& key) const;

    std::vector<Result> results_;
    uint64_t cells_kept_ = 0; // of the results
    // Of the statement at hand:
    ColumnGroups groups_; // by its key
    std::vector<uint64_t> values_, increments_;
    std::vector<uint64_t> cells_;    // of each group
    std::vector<uint32_t> examples_; // of each group a record, counted from 1; 0: it has none
};

} // namespace daybreak::analyze
