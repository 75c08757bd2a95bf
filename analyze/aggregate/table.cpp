// SPDX-License-Identifier: Apache-2.0
//
// AggregationTable: finding, counting and forgetting keys.
#include "analyze/aggregate/table.hpp"

#include <algorithm>
#include <cstring>

namespace daybreak::analyze {

namespace {

constexpr size_t kSlotsMin = 64;

bool has_length(const ValueType& type) {
    return type.kind == ValueKind::string || type.is_stack();
}

} // namespace

void AggregationKey::append(const ValueType& type, base::ByteView data) {
    if (has_length(type)) {
        auto length = static_cast<uint32_t>(data.size());
        auto bytes = std::as_bytes(std::span(&length, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    bytes_.insert(bytes_.end(), data.begin(), data.end());
}

AggregationTable::AggregationTable(uint64_t bytes_max) : bytes_max_(bytes_max), slots_(kSlotsMin) {}

std::optional<uint32_t> AggregationTable::intern(const AggregationLayout& layout) {
    for (size_t i = 0; i < layouts_.size(); i++)
        if (layouts_[i].layout == layout)
            return static_cast<uint32_t>(i);
    auto cells = layout.function.cell_count();
    if (!cells)
        return std::nullopt;
    layouts_.push_back({layout, *cells});
    return static_cast<uint32_t>(layouts_.size() - 1);
}

bool AggregationTable::has_room(uint64_t key_bytes, size_t cell_count) const {
    uint64_t bytes = keys_.size() + key_bytes + (cells_.size() + cell_count) * sizeof(uint64_t) +
                     entries_.size() * sizeof(AggregationEntry);
    return bytes <= bytes_max_ && entries_.size() < UINT32_MAX / 2;
}

void AggregationTable::insert_slot(uint64_t hash, uint32_t entry) {
    size_t mask = slots_.size() - 1, at = hash & mask;
    while (slots_[at].entry != 0)
        at = (at + 1) & mask;
    slots_[at] = {entry + 1, static_cast<uint32_t>(hash >> 32)};
}

void AggregationTable::rebuild_slots(size_t count) {
    slots_.assign(count, {});
    for (size_t i = 0; i < entries_.size(); i++)
        insert_slot(entries_[i].hash, static_cast<uint32_t>(i));
}

uint64_t* AggregationTable::add(uint64_t hash, uint32_t layout, uint32_t source,
                                base::ByteView key) {
    size_t cell_count = layouts_[layout].cell_count;
    if (!has_room(key.size(), cell_count))
        return nullptr;
    AggregationEntry entry;
    entry.hash = hash;
    entry.key_offset = keys_.size();
    entry.key_bytes = static_cast<uint32_t>(key.size());
    entry.cell_offset = cells_.size();
    entry.layout = layout;
    entry.source = source;
    keys_.insert(keys_.end(), key.begin(), key.end());
    cells_.resize(cells_.size() + cell_count);
    layouts_[layout].layout.function.init({&cells_[entry.cell_offset], cell_count});
    entries_.push_back(entry);
    if (entries_.size() * 2 > slots_.size())
        rebuild_slots(slots_.size() * 2);
    else
        insert_slot(hash, static_cast<uint32_t>(entries_.size() - 1));
    return &cells_[entry.cell_offset];
}

bool AggregationTable::merge(uint32_t layout, uint32_t source, base::ByteView key,
                             std::span<const uint64_t> cells) {
    uint64_t* into = find_or_add(layout, source, key);
    if (!into)
        return false;
    const KnownLayout& known = layouts_[layout];
    known.layout.function.merge({into, known.cell_count}, cells);
    return true;
}

std::vector<Value> AggregationTable::members_of(const AggregationEntry& entry) const {
    std::vector<Value> members;
    base::ByteView rest = key_of(entry);
    for (const ValueType& type : layout_of(entry).keys) {
        uint32_t length = type.bytes;
        if (has_length(type)) {
            DBK_ASSERT(rest.size() >= sizeof(length));
            std::memcpy(&length, rest.data(), sizeof(length));
            rest = rest.subspan(sizeof(length));
        }
        DBK_ASSERT(rest.size() >= length);
        members.push_back({.type = type, .data = rest.first(length), .is_key = true});
        rest = rest.subspan(length);
    }
    return members;
}

void AggregationTable::clear(uint32_t variable) {
    for (const AggregationEntry& entry : entries_) {
        const KnownLayout& known = layouts_[entry.layout];
        if (known.layout.variable == variable)
            known.layout.function.init({&cells_[entry.cell_offset], known.cell_count});
    }
}

void AggregationTable::normalize(uint32_t variable, uint64_t normal) {
    for (AggregationEntry& entry : entries_)
        if (layout_of(entry).variable == variable)
            entry.normal = normal;
}

void AggregationTable::remove_if(const std::function<bool(const AggregationEntry&)>& goes) {
    std::vector<AggregationEntry> kept;
    base::Bytes keys;
    std::vector<uint64_t> cells;
    for (const AggregationEntry& entry : entries_) {
        if (goes(entry))
            continue;
        AggregationEntry moved = entry;
        moved.key_offset = keys.size();
        moved.cell_offset = cells.size();
        base::ByteView key = key_of(entry);
        std::span<const uint64_t> values = cells_of(entry);
        keys.insert(keys.end(), key.begin(), key.end());
        cells.insert(cells.end(), values.begin(), values.end());
        kept.push_back(moved);
    }
    entries_ = std::move(kept);
    keys_ = std::move(keys);
    cells_ = std::move(cells);
    rebuild_slots(slots_.size());
}

void AggregationTable::mark_printed(uint32_t source) {
    if (source >= printed_.size())
        printed_.resize(size_t{source} + 1);
    printed_[source] = true;
}

} // namespace daybreak::analyze
