// SPDX-License-Identifier: Apache-2.0
//
// When keys of aggregations were where they were.
#include "analyze/symbols/key_times.hpp"

#include <functional>
#include <random>

namespace daybreak::analyze {

namespace {

constexpr size_t kKeptMax = 1 << 20;

uint64_t hash_of(const UserPlace& place, uint64_t offset) {
    const std::hash<std::string> hash;
    return (hash(place.object) * 31 + hash(place.build_id)) * 31 + offset;
}

} // namespace

KeyTimes::KeyTimes() : kept_(0, Hash{static_cast<uint64_t>(std::random_device{}()) << 32 | 1}) {}

void KeyTimes::keep(uint64_t pid, uint64_t key, uint64_t address, const UserPlace& place,
                    uint64_t mono_ns) {
    const uint64_t there = hash_of(place, place.object_offset - (address - key));
    auto known = kept_.find({pid, key});
    if (known != kept_.end())
        known->second.is_of_several |= known->second.place != there;
    else if (kept_.size() < kKeptMax)
        kept_.emplace(Key{pid, key}, Kept{mono_ns, there});
}

const KeyTimes::Kept* KeyTimes::find(uint64_t pid, uint64_t key) const {
    auto known = kept_.find({pid, key});
    return known != kept_.end() ? &known->second : nullptr;
}

} // namespace daybreak::analyze
