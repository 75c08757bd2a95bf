// SPDX-License-Identifier: Apache-2.0
//
// AggregationTable: the values of one ring's aggregations, found by key.
//
//     layout   which variable, function and key types; interned, so a number stands for it
//     key      the members' bytes one after the other; strings and stacks after their length
//     entry    layout + key -> cells, normalization
//
// An open-addressed index over flat storage: entries, key bytes and cells each lie in one array, in
// the order of their first appearance.  Two clauses that aggregate into the same variable with the
// same key types share a layout, so their values meet, as do those of several CPUs.
#pragma once

#include "analyze/aggregate/function.hpp"
#include "analyze/values/value.hpp"

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace daybreak::analyze {

/// What a table may hold, keys, cells and entries together; beyond it new keys are refused.
constexpr uint64_t kAggregationBytesMax = 4ull << 30;

struct AggregationLayout {
    uint32_t variable = 0; ///< aggregation id, from 1
    AggregationFunction function;
    std::vector<ValueType> keys;

    bool operator==(const AggregationLayout&) const = default;
};

struct AggregationEntry {
    uint64_t hash = 0;
    uint64_t normal = 1;
    uint64_t key_offset = 0, cell_offset = 0; // into the table's storage
    uint32_t key_bytes = 0;
    uint32_t layout = 0;
    uint32_t source = 0; ///< the aggregating action that made it; see mark_printed()
};

/// Builds a key's bytes.  Members must be appended in the layout's order.
class AggregationKey {
public:
    void clear() { bytes_.clear(); }
    void append(const ValueType& type, base::ByteView data);
    base::ByteView bytes() const { return bytes_; }

private:
    base::Bytes bytes_;
};

class AggregationTable {
public:
    explicit AggregationTable(uint64_t bytes_max = kAggregationBytesMax);

    /// Returns the number of a layout, the same for equal ones; empty when its function's argument
    /// is none that D can make.
    std::optional<uint32_t> intern(const AggregationLayout& layout);
    const AggregationLayout& layout(uint32_t number) const { return layouts_[number].layout; }

    /// Returns where the cells of `key` are, new ones initialized; kNowhere when the table is full.
    /// They stay there until remove_if().
    size_t place(uint32_t layout, uint32_t source, base::ByteView key) {
        uint64_t* cells = find_or_add(layout, source, key);
        return cells ? static_cast<size_t>(cells - cells_.data()) : kNowhere;
    }
    static constexpr size_t kNowhere = SIZE_MAX;
    /// The same as update_at() of a layout whose function is count().
    void count_at(size_t place) { cells_[place]++; }
    /// Counts one value in the cells at a place, which are of this layout.
    void update_at(size_t place, uint32_t layout, int64_t value, int64_t increment) {
        const KnownLayout& known = layouts_[layout];
        uint64_t* cells = &cells_[place];
        if (known.layout.function.kind == DTRACEAGG_COUNT) [[likely]]
            cells[0]++;
        else
            known.layout.function.update({cells, known.cell_count}, value, increment);
    }
    /// Counts one value under `key`.  Returns false when the table is full.
    bool update(uint32_t layout, uint32_t source, base::ByteView key, int64_t value,
                int64_t increment) {
        size_t at = place(layout, source, key);
        if (at == kNowhere)
            return false;
        update_at(at, layout, value, increment);
        return true;
    }
    /// Adds what was counted elsewhere; `cells` has the function's cell_count() elements.
    bool merge(uint32_t layout, uint32_t source, base::ByteView key,
               std::span<const uint64_t> cells);

    const std::vector<AggregationEntry>& entries() const { return entries_; }
    const AggregationLayout& layout_of(const AggregationEntry& entry) const {
        return layouts_[entry.layout].layout;
    }
    std::span<const uint64_t> cells_of(const AggregationEntry& entry) const {
        return {cells_.data() + entry.cell_offset, layouts_[entry.layout].cell_count};
    }
    AggregationView view_of(const AggregationEntry& entry) const {
        return {layout_of(entry).function, cells_of(entry), entry.normal};
    }
    base::ByteView key_of(const AggregationEntry& entry) const {
        return base::ByteView(keys_).subspan(entry.key_offset, entry.key_bytes);
    }
    /// Returns the key's members; views die when the table changes.
    std::vector<Value> members_of(const AggregationEntry& entry) const;

    /// clear(): the keys stay, their values start again.
    void clear(uint32_t variable);
    /// normalize(): what the keys that are there now are divided by; 1 undoes it.
    void normalize(uint32_t variable, uint64_t normal);
    /// Removes the entries for which `goes` says so.
    void remove_if(const std::function<bool(const AggregationEntry&)>& goes);

    /// Remembers that printa() showed what an action aggregated; it is not printed at the end.
    void mark_printed(uint32_t source);
    bool is_printed(uint32_t source) const { return source < printed_.size() && printed_[source]; }

private:
    struct KnownLayout {
        AggregationLayout layout;
        size_t cell_count;
    };
    struct Slot {
        uint32_t entry = 0; // index + 1; 0: free
        uint32_t tag = 0;   // upper half of the hash
    };

    /// Returns the key's cells, new ones initialized; nullptr when the table is full.
    uint64_t* find_or_add(uint32_t layout, uint32_t source, base::ByteView key) {
        uint64_t hash = hash_key(layout, key);
        size_t mask = slots_.size() - 1;
        auto tag = static_cast<uint32_t>(hash >> 32);
        for (size_t at = hash & mask; slots_[at].entry != 0; at = (at + 1) & mask) {
            if (slots_[at].tag != tag)
                continue;
            const AggregationEntry& entry = entries_[slots_[at].entry - 1];
            if (entry.layout == layout && entry.key_bytes == key.size() &&
                is_equal(keys_.data() + entry.key_offset, key.data(), key.size()))
                return &cells_[entry.cell_offset];
        }
        return add(hash, layout, source, key);
    }
    uint64_t* add(uint64_t hash, uint32_t layout, uint32_t source, base::ByteView key);
    static uint64_t hash_key(uint32_t layout, base::ByteView key);
    static bool is_equal(const std::byte* a, const std::byte* b, size_t bytes);
    bool has_room(uint64_t key_bytes, size_t cell_count) const;
    void insert_slot(uint64_t hash, uint32_t entry);
    void rebuild_slots(size_t count);

    uint64_t bytes_max_;
    std::vector<KnownLayout> layouts_;
    std::vector<AggregationEntry> entries_;
    base::Bytes keys_;
    std::vector<uint64_t> cells_;
    std::vector<Slot> slots_; // a power of two
    std::vector<bool> printed_;
};

/// Spreads any key well; not meant to resist a user who chooses keys, which costs only time.
inline uint64_t AggregationTable::hash_key(uint32_t layout, base::ByteView key) {
    constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio, odd
    auto fold = [](uint64_t a) {
        auto product = static_cast<unsigned __int128>(a) * kMultiplier;
        return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    };
    uint64_t hash = kMultiplier ^ (uint64_t{layout} << 32 | key.size());
    const std::byte* at = key.data();
    size_t left = key.size();
    for (; left >= sizeof(uint64_t); at += sizeof(uint64_t), left -= sizeof(uint64_t))
        hash = fold(hash ^ base::load<uint64_t>(at));
    uint64_t rest = 0;
    if (left != 0 && key.size() >= sizeof(rest)) // with bytes that were hashed already
        rest = base::load<uint64_t>(at + left - sizeof(rest));
    else if (left != 0)
        std::memcpy(&rest, at, left);
    return fold(hash ^ rest);
}

/// Compares keys of one length.  They are short: a call of memcmp() would cost more.
inline bool AggregationTable::is_equal(const std::byte* a, const std::byte* b, size_t bytes) {
    if (bytes < sizeof(uint64_t))
        return bytes == 0 || std::memcmp(a, b, bytes) == 0;
    size_t last = bytes - sizeof(uint64_t);
    for (size_t at = 0; at < last; at += sizeof(uint64_t))
        if (base::load<uint64_t>(a + at) != base::load<uint64_t>(b + at))
            return false;
    return base::load<uint64_t>(a + last) == base::load<uint64_t>(b + last);
}

} // namespace daybreak::analyze
