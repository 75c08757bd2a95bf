// SPDX-License-Identifier: Apache-2.0
//
// Groups of records by the columns of their key, and what each group adds.
#include "analyze/session/column_tally.hpp"

#include <algorithm>

namespace daybreak::analyze {

namespace {

/// Cells of all groups of a block, and of a statement for each of its records: what needs more is
/// counted row by row.
constexpr uint64_t kBlockCellsMax = 1u << 20;
constexpr uint64_t kCellsPerRecord = 16, kCellsAlways = 1024;

/// As Value::signed_integer().
int64_t signed_value(uint64_t bits, const FieldPlan& field) {
    size_t bytes = field.info.bytes;
    if (bytes > 4 || (bytes < 4 && !field.type.is_signed))
        return static_cast<int64_t>(bits);
    size_t shift = 64 - 8 * bytes;
    return static_cast<int64_t>(bits << shift) >> shift;
}

} // namespace

bool ColumnTally::count(const formats::ColumnBlock& block, const formats::RingRecording& ring,
                        Consumer& consumer) {
    results_.clear();
    cells_kept_ = 0;
    for (const formats::LayoutColumns& layout : block.layouts())
        if (layout.count != 0 && !count_layout(layout, ring, consumer))
            return false;
    for (const Result& result : results_)
        for (const Group& group : result.groups)
            consumer.add(*result.statement, group.key, group.cells);
    return true;
}

bool ColumnTally::count_layout(const formats::LayoutColumns& layout,
                               const formats::RingRecording& ring, Consumer& consumer) {
    uint32_t epid = layout.record.word & DBK_EPID_MAX;
    const formats::EcbInfo* ecb = ring.ecbs.find(epid);
    EcbPlan* plan = consumer.program().find(epid);
    if (!ecb || !plan || !plan->only_aggregates || !is_layout_of(layout.record, *ecb))
        return false;
    for (Statement& statement : plan->statements)
        if (!consumer.is_flat(statement) || !count_statement(layout, statement))
            return false;
    return true;
}

bool ColumnTally::count_statement(const formats::LayoutColumns& layout, Statement& statement) {
    groups_.clear();
    for (const FieldPlan& field : statement.fields)
        if (!groups_.add(layout, field.info))
            return false;
    const AggregationFunction& function = statement.layout.function;
    size_t cell_count = *function.cell_count();
    if (!read_integers(layout, statement.value, values_) ||
        !read_integers(layout, statement.increment, increments_))
        return false;
    groups_.divide(layout.count, cell_count);
    const size_t below = groups_.numbers().below;
    uint64_t cells_needed = below * cell_count;
    cells_kept_ += cells_needed;
    if (cells_needed > kCellsAlways + kCellsPerRecord * layout.count ||
        cells_kept_ > kBlockCellsMax)
        return false;
    update(function, cell_count, layout.count);
    Result& result = results_.emplace_back(Result{&statement, {}});
    for (size_t group = 0; group < below; group++) {
        if (examples_[group] == 0)
            continue;
        auto cells = cells_.begin() + static_cast<ptrdiff_t>(group * cell_count);
        Group& one = result.groups.emplace_back();
        put_key(statement, examples_[group] - 1, one.key);
        one.cells.assign(cells, cells + static_cast<ptrdiff_t>(cell_count));
    }
    return true;
}

bool ColumnTally::read_integers(const formats::LayoutColumns& layout,
                                const std::optional<FieldPlan>& field,
                                std::vector<uint64_t>& values) {
    values.clear();
    if (!field)
        return true;
    size_t item = item_at(layout.record, field->info.offset);
    if (item >= layout.items.size() || layout.record.widths[item] != field->info.bytes ||
        !formats::ColumnBlock::integers(layout, item, values).ok())
        return false;
    for (uint64_t& value : values)
        value = static_cast<uint64_t>(signed_value(value, *field));
    return true;
}

void ColumnTally::update(const AggregationFunction& function, size_t cell_count, size_t records) {
    const formats::ColumnCodes& groups = groups_.numbers();
    cells_.assign(groups.below * cell_count, 0);
    if (function.kind == DTRACEAGG_COUNT) {
        formats::count_codes(groups, records, cells_);
        groups_.find_first(cells_, examples_);
        return;
    }
    examples_.assign(groups.below, 0);
    auto cells_of = [&](uint64_t group) {
        return std::span(cells_).subspan(group * cell_count, cell_count);
    };
    for (size_t group = 0; group < groups.below; group++)
        function.init(cells_of(group));
    for (size_t i = 0; i < records; i++) {
        function.update(cells_of(groups[i]), values_.empty() ? 0 : static_cast<int64_t>(values_[i]),
                        increments_.empty() ? 1 : static_cast<int64_t>(increments_[i]));
        examples_[groups[i]] = static_cast<uint32_t>(i + 1);
    }
}

/// The same bytes as AggregationKey makes.
void ColumnTally::put_key(const Statement& statement, size_t record, base::Bytes& key) const {
    AggregationKey made;
    base::Bytes data;
    for (size_t i = 0; i < statement.fields.size(); i++) {
        const FieldPlan& field = statement.fields[i];
        data.clear();
        groups_.put(i, record, data);
        if (field.type.kind == ValueKind::string)
            data.erase(std::find(data.begin(), data.end(), std::byte{0}), data.end());
        made.append(field.type, data);
    }
    key.assign(made.bytes().begin(), made.bytes().end());
}

} // namespace daybreak::analyze
