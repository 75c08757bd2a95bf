// SPDX-License-Identifier: Apache-2.0
//
// Finding BTF types by name.
//
// One open-addressing table holds the numbers of all named types, hashed by name alone; a lookup
// compares kinds as well.  For a kernel's 100 000 names it is made in a few milliseconds, which is
// why it is not kept anywhere.
#include "compiler/types/btf.hpp"

#include <algorithm>
#include <string>

namespace daybreak::compiler {

namespace {

constexpr std::string_view kTracepointPrefix = "btf_trace_";

uint32_t hash(std::string_view name) {
    uint32_t value = 2166136261u; // FNV-1a
    for (char c : name)
        value = (value ^ static_cast<unsigned char>(c)) * 16777619u;
    return value;
}

bool kind_matches(BtfKind wanted, BtfKind found) {
    return wanted == found || (wanted == BtfKind::enum_ && found == BtfKind::enum64);
}

} // namespace

struct Btf::Index {
    std::vector<uint32_t> slots; ///< type numbers; 0: free.  A power of two, at most half full
    std::unordered_map<std::string_view, std::pair<uint32_t, int64_t>> enumerators;
    bool enumerators_built = false;
};

void Btf::build_index() const {
    index_ = std::make_shared<Index>();
    size_t size = 16;
    while (size < offsets_.size() * 2)
        size *= 2;
    index_->slots.resize(size);
    for (uint32_t id = first_; id < type_end(); id++) {
        std::string_view name = string(word(offsets_[id - first_]));
        if (name.empty())
            continue;
        // Linear probing.  Of two types of one kind and name, the first stays.
        BtfKind kind = type(id).kind;
        size_t at = hash(name) & (size - 1);
        bool taken = false;
        for (; index_->slots[at] && !taken; at = (at + 1) & (size - 1)) {
            BtfType there = type(index_->slots[at]);
            taken = there.kind == kind && there.name == name;
        }
        if (!taken)
            index_->slots[at] = id;
    }
}

uint32_t Btf::find(BtfKind kind, std::string_view name) const {
    if (name.empty())
        return 0;
    if (!index_)
        build_index();
    const std::vector<uint32_t>& slots = index_->slots;
    for (size_t at = hash(name) & (slots.size() - 1); slots[at];
         at = (at + 1) & (slots.size() - 1)) {
        BtfType found = type(slots[at]);
        if (kind_matches(kind, found.kind) && found.name == name)
            return slots[at];
    }
    return 0;
}

std::optional<std::pair<uint32_t, int64_t>> Btf::find_enumerator(std::string_view name) const {
    if (!index_)
        build_index();
    if (!index_->enumerators_built) {
        index_->enumerators_built = true;
        for (uint32_t id = first_; id < type_end(); id++)
            for (const BtfEnumerator& enumerator : enumerators(id))
                index_->enumerators.try_emplace(enumerator.name, id, enumerator.value);
    }
    auto found = index_->enumerators.find(name);
    if (found == index_->enumerators.end())
        return std::nullopt;
    return found->second;
}

uint32_t Btf::find_tracepoint(std::string_view name) const {
    uint32_t id = find(BtfKind::typedef_, std::string(kTracepointPrefix) + std::string(name));
    if (id == 0)
        return 0;
    BtfType pointer = type(type(id).target);
    if (pointer.kind != BtfKind::pointer ||
        type(pointer.target).kind != BtfKind::function_prototype)
        return 0;
    return pointer.target;
}

std::vector<std::string_view> Btf::tracepoints() const {
    std::vector<std::string_view> names;
    for (uint32_t id = first_; id < type_end(); id++) {
        BtfType found = type(id);
        if (found.kind == BtfKind::typedef_ && found.name.starts_with(kTracepointPrefix))
            names.push_back(found.name.substr(kTracepointPrefix.size()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string_view> Btf::functions() const {
    std::vector<std::string_view> names;
    for (uint32_t id = first_; id < type_end(); id++) {
        BtfType found = type(id);
        if (found.kind == BtfKind::function)
            names.push_back(found.name);
    }
    return names;
}

} // namespace daybreak::compiler
