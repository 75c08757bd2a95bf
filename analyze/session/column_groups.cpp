// SPDX-License-Identifier: Apache-2.0
//
// ColumnGroups: the records of a layout by what they have in some of its columns.
#include "analyze/session/column_groups.hpp"

#include <algorithm>
#include <bit>

namespace daybreak::analyze {

namespace {

/// Groups that are kept by number without looking which of them there are.
constexpr uint64_t kGroupsMax = 1u << 16;
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio, odd

} // namespace

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

void ColumnGroups::clear() {
    parts_.clear();
    ends_.clear();
}

/// A fixed field is an integer, or several that lie one after the other.
bool ColumnGroups::add(const formats::LayoutColumns& layout, const formats::FieldInfo& field) {
    size_t item = item_at(layout.record, field.offset);
    if (field.shape != DBK_FIELD_FIXED) {
        if (item >= layout.items.size() || layout.record.widths[item] != formats::kTailItem ||
            !add_part(layout, item))
            return false;
    } else {
        for (uint32_t left = field.bytes; left > 0; item++) {
            if (item >= layout.items.size() || layout.record.widths[item] == formats::kTailItem ||
                layout.record.widths[item] > left || !add_part(layout, item))
                return false;
            left -= layout.record.widths[item];
        }
    }
    ends_.push_back(parts_.size());
    return true;
}

bool ColumnGroups::add_part(const formats::LayoutColumns& layout, size_t item) {
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

/// Gives every record the number of its group: records with equal codes have one number.
void ColumnGroups::divide(size_t records, size_t cells) {
    groups_ = {};
    for (const Part& part : parts_)
        add_to_groups(part.codes(), records);
    if (groups_.below * cells > 4 * records)
        groups_ = renumbered(groups_, records);
}

void ColumnGroups::add_to_groups(const formats::ColumnCodes& codes, size_t records) {
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
                numbers[i] =
                    static_cast<uint64_t>(groups[i]) * codes.below + static_cast<uint64_t>(more[i]);
        });
    });
    groups_.words = std::move(numbers);
    groups_.bytes = {};
    groups_.below *= codes.below;
    if (groups_.below > kGroupsMax)
        groups_ = renumbered(groups_, records);
}

/// Makes of any codes words from 0 on, in the order of their first appearance.
formats::ColumnCodes ColumnGroups::renumbered(const formats::ColumnCodes& codes, size_t records) {
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

void ColumnGroups::find_first(std::span<const uint64_t> counts,
                              std::vector<uint32_t>& records) const {
    records.assign(counts.size(), 0);
    auto left = std::ranges::count_if(counts, [](uint64_t count) { return count != 0; });
    for (size_t i = 0; left != 0; i++) {
        uint32_t& first = records[groups_[i]];
        left -= first == 0;
        if (first == 0)
            first = static_cast<uint32_t>(i + 1);
    }
}

void ColumnGroups::put(size_t field, size_t record, base::Bytes& data) const {
    for (size_t part = field == 0 ? 0 : ends_[field - 1]; part < ends_[field]; part++) {
        const Part& one = parts_[part];
        uint64_t code = one.codes().value(record);
        base::ByteView bytes = one.width != formats::kTailItem
                                   ? std::as_bytes(std::span(&code, 1)).first(one.width)
                                   : one.tail.entry(code);
        data.insert(data.end(), bytes.begin(), bytes.end());
    }
}

} // namespace daybreak::analyze
