// SPDX-License-Identifier: Apache-2.0
//
// Groups of records by the columns of their key, and what each group adds.
#include "analyze/session/column_tally.hpp"

#include <algorithm>
#include <bit>

namespace daybreak::analyze {

namespace {

/// Groups that are kept by number without looking which of them there are.
constexpr uint64_t kGroupsMax = 1u << 16;
/// Cells of all groups of a block, and of a statement for each of its records: what needs more is
/// counted row by row.
constexpr uint64_t kBlockCellsMax = 1u << 20;
constexpr uint64_t kCellsPerRecord = 16, kCellsAlways = 1024;
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio, odd

size_t item_at(const formats::RecordLayout& layout, uint32_t offset) {
    uint32_t at = layout.first_offset();
    size_t item = 0;
    for (; item < layout.widths.size() && at < offset; item++)
        at += formats::item_bytes(layout.widths[item]);
    return at == offset ? item : layout.widths.size();
}

bool is_layout_of(const formats::RecordLayout& layout, const formats::EcbInfo& ecb) {
    std::optional<formats::RecordLayout> expected = formats::make_layout(layout.ring_id, ecb);
    return expected && expected->variable == layout.variable && expected->widths == layout.widths;
}

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
    parts_.clear();
    for (const FieldPlan& field : statement.fields)
        if (!add_member(layout, field))
            return false;
    const AggregationFunction& function = statement.layout.function;
    size_t cell_count = *function.cell_count();
    if (!read_integers(layout, statement.value, values_) ||
        !read_integers(layout, statement.increment, increments_))
        return false;
    make_groups(layout.count, cell_count);
    uint64_t cells_needed = groups_.below * cell_count;
    cells_kept_ += cells_needed;
    if (cells_needed > kCellsAlways + kCellsPerRecord * layout.count || cells_kept_ > kBlockCellsMax)
        return false;
    update(function, cell_count, layout.count);
    Result& result = results_.emplace_back(Result{&statement, {}});
    for (size_t group = 0; group < groups_.below; group++) {
        if (examples_[group] == 0)
            continue;
        auto cells = cells_.begin() + static_cast<ptrdiff_t>(group * cell_count);
        Group& one = result.groups.emplace_back();
        put_key(statement, examples_[group] - 1, one.key);
        one.cells.assign(cells, cells + static_cast<ptrdiff_t>(cell_count));
    }
    return true;
}

/// A fixed field is an integer, or several that lie one after the other.
bool ColumnTally::add_member(const formats::LayoutColumns& layout, const FieldPlan& field) {
    size_t item = item_at(layout.record, field.info.offset);
    if (field.info.shape != DBK_FIELD_FIXED)
        return item < layout.items.size() && layout.record.widths[item] == formats::kTailItem &&
               add_part(layout, item);
    for (uint32_t left = field.info.bytes; left > 0; item++) {
        if (item >= layout.items.size() || layout.record.widths[item] == formats::kTailItem ||
            layout.record.widths[item] > left || !add_part(layout, item))
            return false;
        left -= layout.record.widths[item];
    }
    return true;
}

bool ColumnTally::add_part(const formats::LayoutColumns& layout, size_t item) {
    Part part;
    part.width = layout.record.widths[item];
    if (part.width == formats::kTailItem) {
        if (!formats::ColumnBlock::tails(layout, item, part.tail).ok() || !part.tail.is_dictionary)
            return false;
    } else if (!formats::ColumnBlock::integer_codes(layout, item, part.integers).ok()) {
        return false;
    }
    parts_.push_back(std::move(part));
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

/// Gives every record the number of its group: records with equal codes have one number.
void ColumnTally::make_groups(size_t records, size_t cell_count) {
    groups_ = {};
    for (const Part& part : parts_)
        add_to_groups(part.codes(), records);
    if (groups_.below * cell_count > 4 * records)
        groups_ = renumbered(groups_, records);
}

void ColumnTally::add_to_groups(const formats::ColumnCodes& codes, size_t records) {
    if (codes.is_same())
        return;
    if (codes.below == 0 || codes.below > std::max<uint64_t>(kGroupsMax, records))
        return add_to_groups(renumbered(codes, records), records);
    if (groups_.is_same()) {
        groups_ = codes;
        return;
    }
    std::vector<uint64_t> numbers(records);
    groups_.visit([&](auto groups) {
        codes.visit([&](auto more) {
            for (size_t i = 0; i < records; i++)
                numbers[i] = static_cast<uint64_t>(groups[i]) * codes.below +
                             static_cast<uint64_t>(more[i]);
        });
    });
    groups_.words = std::move(numbers);
    groups_.bytes = {};
    groups_.below *= codes.below;
    if (groups_.below > kGroupsMax)
        groups_ = renumbered(groups_, records);
}

/// Makes of any codes words from 0 on, in the order of their first appearance.
formats::ColumnCodes ColumnTally::renumbered(const formats::ColumnCodes& codes, size_t records) {
    size_t slots = std::bit_ceil(2 * records + 1);
    slots_.assign(slots, {});
    uint32_t count = 0;
    formats::ColumnCodes numbers;
    numbers.words.resize(records);
    for (size_t i = 0; i < records; i++) {
        uint64_t code = codes[i];
        auto product = static_cast<unsigned __int128>(code ^ kMultiplier) * kMultiplier;
        auto hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
        size_t at = hash & (slots - 1);
        while (slots_[at].number != 0 && slots_[at].key != code)
            at = (at + 1) & (slots - 1);
        if (slots_[at].number == 0)
            slots_[at] = {code, ++count};
        numbers.words[i] = slots_[at].number - 1;
    }
    numbers.below = count;
    return numbers;
}

void ColumnTally::update(const AggregationFunction& function, size_t cell_count, size_t records) {
    examples_.assign(groups_.below, 0);
    cells_.assign(groups_.below * cell_count, 0);
    if (function.kind == DTRACEAGG_COUNT) {
        formats::count_codes(groups_, records, cells_);
        find_examples();
        return;
    }
    auto cells_of = [&](uint64_t group) {
        return std::span(cells_).subspan(group * cell_count, cell_count);
    };
    for (size_t group = 0; group < groups_.below; group++)
        function.init(cells_of(group));
    for (size_t i = 0; i < records; i++) {
        function.update(cells_of(groups_[i]),
                        values_.empty() ? 0 : static_cast<int64_t>(values_[i]),
                        increments_.empty() ? 1 : static_cast<int64_t>(increments_[i]));
        examples_[groups_[i]] = static_cast<uint32_t>(i + 1);
    }
}

/// Of each group that counted something its first record, which is seldom far.
void ColumnTally::find_examples() {
    auto has_records = [](uint64_t count) { return count != 0; };
    auto left = std::count_if(cells_.begin(), cells_.end(), has_records);
    for (size_t i = 0; left != 0; i++) {
        uint32_t& example = examples_[groups_[i]];
        left -= example == 0;
        if (example == 0)
            example = static_cast<uint32_t>(i + 1);
    }
}

/// The same bytes as AggregationKey makes.
void ColumnTally::put_key(const Statement& statement, size_t record, base::Bytes& key) const {
    AggregationKey made;
    base::Bytes data;
    size_t part = 0;
    for (const FieldPlan& field : statement.fields) {
        data.clear();
        bool is_fixed = field.info.shape == DBK_FIELD_FIXED;
        for (uint32_t left = is_fixed ? field.info.bytes : 1; left > 0; part++) {
            const Part& one = parts_[part];
            uint64_t code = one.codes().value(record);
            base::ByteView bytes = is_fixed ? std::as_bytes(std::span(&code, 1)).first(one.width)
                                            : one.tail.entry(code);
            data.insert(data.end(), bytes.begin(), bytes.end());
            left -= is_fixed ? one.width : 1;
        }
        if (field.type.kind == ValueKind::string)
            data.erase(std::find(data.begin(), data.end(), std::byte{0}), data.end());
        made.append(field.type, data);
    }
    key.assign(made.bytes().begin(), made.bytes().end());
}

} // namespace daybreak::analyze
