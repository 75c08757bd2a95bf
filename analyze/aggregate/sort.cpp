// SPDX-License-Identifier: Apache-2.0
//
// Order: comparing keys, values and bundles.
#include "analyze/aggregate/sort.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace daybreak::analyze {

namespace {

template <typename T>
int compare(const T& a, const T& b) {
    return a < b ? -1 : b < a ? 1 : 0;
}

/// As if the shorter one were filled up with zeros.
int compare_padded(base::ByteView a, base::ByteView b) {
    size_t common = std::min(a.size(), b.size());
    if (int order = common ? std::memcmp(a.data(), b.data(), common) : 0)
        return order;
    auto any = [&](base::ByteView rest) {
        return std::any_of(rest.begin(), rest.end(), [](std::byte c) { return c != std::byte{0}; });
    };
    return static_cast<int>(any(a.subspan(common))) - static_cast<int>(any(b.subspan(common)));
}

int compare_member(const Value& a, const Value& b) {
    if (int order = compare(a.type.action, b.type.action))
        return order;
    if (int order = compare(a.type.bytes, b.type.bytes))
        return order;
    switch (a.type.kind) {
    case ValueKind::string:
    case ValueKind::bytes:
    case ValueKind::memory:
    case ValueKind::stack:
    case ValueKind::ustack:
        return compare_padded(a.data, b.data);
    default:
        break;
    }
    // One number, or several words (a process and an address) one after the other.
    for (size_t at = 0; at < std::min(a.data.size(), b.data.size()); at += sizeof(uint64_t)) {
        Value left{a.type, a.data.subspan(at)}, right{b.type, b.data.subspan(at)};
        if (int order = compare(left.unsigned_integer(), right.unsigned_integer()))
            return order;
    }
    return 0;
}

using Members = std::vector<Value>;

int compare_keys(const Members& a, const Members& b, uint64_t first) {
    if (int order = compare(a.size(), b.size()))
        return order;
    if (a.empty())
        return 0;
    if (first >= a.size())
        first = 0;
    for (size_t i = 0; i < a.size(); i++) {
        size_t at = (first + i) % a.size();
        if (int order = compare_member(a[at], b[at]))
            return order;
    }
    return 0;
}

int compare_entry_values(const AggregationTable& table, const AggregationEntry& a,
                         const AggregationEntry& b) {
    const AggregationFunction &left = table.layout_of(a).function,
                              &right = table.layout_of(b).function;
    if (left == right)
        return compare_values(left, table.cells_of(a), table.cells_of(b));
    if (int order = compare(left.kind, right.kind))
        return order;
    return compare(left.argument, right.argument);
}

/// An entry with its key taken apart, which sorting looks at many times.
struct Sortable {
    const AggregationEntry* entry;
    Members members;
};

} // namespace

std::vector<const AggregationEntry*> sorted_entries(const AggregationTable& table,
                                                    std::optional<uint32_t> variable,
                                                    const OutputOptions& options) {
    std::vector<Sortable> sortables;
    for (const AggregationEntry& entry : table.entries())
        if (!variable || table.layout_of(entry).variable == *variable)
            sortables.push_back({&entry, table.members_of(entry)});
    auto order_of = [&](const Sortable& a, const Sortable& b) {
        if (int order =
                compare(table.layout_of(*a.entry).variable, table.layout_of(*b.entry).variable))
            return order;
        int by_key = compare_keys(a.members, b.members, options.aggsortkeypos);
        if (options.aggsortkey && by_key)
            return by_key;
        if (int by_value = compare_entry_values(table, *a.entry, *b.entry))
            return by_value;
        return by_key ? by_key : compare(a.entry, b.entry);
    };
    std::sort(sortables.begin(), sortables.end(), [&](const Sortable& a, const Sortable& b) {
        int order = order_of(a, b);
        return options.aggsortrev ? order > 0 : order < 0;
    });
    std::vector<const AggregationEntry*> result;
    for (const Sortable& sortable : sortables)
        result.push_back(sortable.entry);
    return result;
}

namespace {

struct SortableBundle {
    AggregationBundle entries;
    Members members;
};

/// Collects the entries of each key, in the order of the keys' first appearance.
std::vector<SortableBundle> bundle_by_key(const AggregationTable& table,
                                          std::span<const uint32_t> variables) {
    std::vector<SortableBundle> bundles;
    std::unordered_map<std::string, size_t> index;
    for (size_t position = 0; position < variables.size(); position++) {
        for (const AggregationEntry& entry : table.entries()) {
            const AggregationLayout& layout = table.layout_of(entry);
            if (layout.variable != variables[position])
                continue;
            std::string key;
            for (const ValueType& type : layout.keys)
                key += std::to_string(type.action) + ":" + std::to_string(type.bytes) + " ";
            base::ByteView bytes = table.key_of(entry);
            key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            auto [found, is_new] = index.try_emplace(std::move(key), bundles.size());
            if (is_new)
                bundles.push_back({AggregationBundle(variables.size()), table.members_of(entry)});
            bundles[found->second].entries[position] = &entry;
        }
    }
    return bundles;
}

/// A missing value compares as the cells of a key that was just made.
int compare_optional(const AggregationTable& table, const AggregationEntry* a,
                     const AggregationEntry* b) {
    if (a && b)
        return compare_entry_values(table, *a, *b);
    const AggregationEntry* known = a ? a : b;
    if (!known)
        return 0;
    std::vector<uint64_t> empty(table.cells_of(*known).size());
    int order = compare_values(table.layout_of(*known).function, table.cells_of(*known), empty);
    return a ? order : -order;
}

} // namespace

std::vector<AggregationBundle> sorted_bundles(const AggregationTable& table,
                                              std::span<const uint32_t> variables,
                                              const OutputOptions& options) {
    std::vector<SortableBundle> bundles = bundle_by_key(table, variables);
    size_t first = options.aggsortpos < variables.size() ? options.aggsortpos : 0;
    auto by_values = [&](const SortableBundle& a, const SortableBundle& b) {
        if (int order = compare_optional(table, a.entries[first], b.entries[first]))
            return order;
        for (size_t i = 0; i < variables.size(); i++)
            if (int order = compare_optional(table, a.entries[i], b.entries[i]))
                return order;
        return 0;
    };
    auto order_of = [&](const SortableBundle& a, const SortableBundle& b) {
        int by_key = compare_keys(a.members, b.members, options.aggsortkeypos);
        if (options.aggsortkey && by_key)
            return by_key;
        int by_value = by_values(a, b);
        return by_value ? by_value : by_key;
    };
    std::stable_sort(bundles.begin(), bundles.end(),
                     [&](const SortableBundle& a, const SortableBundle& b) {
                         int order = order_of(a, b);
                         return options.aggsortrev ? order > 0 : order < 0;
                     });
    std::vector<AggregationBundle> result;
    for (SortableBundle& bundle : bundles)
        result.push_back(std::move(bundle.entries));
    return result;
}

void truncate_aggregation(AggregationTable& table, uint32_t variable, int64_t count) {
    OutputOptions order;
    order.aggsortrev = count >= 0;
    std::vector<const AggregationEntry*> entries = sorted_entries(table, variable, order);
    uint64_t keep = count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
    std::unordered_set<const AggregationEntry*> goes(
        entries.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(keep, entries.size())),
        entries.end());
    table.remove_if([&](const AggregationEntry& entry) { return goes.contains(&entry); });
}

} // namespace daybreak::analyze
